# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the scripts of this directory: where fetched kernels and what was
# built from them are kept, and how a script says what it is for and that it cannot
# run here.

VM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM/../.." && pwd)
CACHE=${GDRCOPY_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/gdrcopy-vm}
export VM TOP CACHE LC_ALL=C.UTF-8 PATH="$PATH:/usr/sbin:/sbin"

# Exit status 77 is a skip; its reason is the last line.
skip() { echo "$*" >&2; exit 77; }
fail() { echo "${0##*/}: $*" >&2; exit 1; }
say() { echo "${0##*/}: $*" >&2; }

# For a script that has no options: its head is what -h shows.
no_options() { # argument...
	local a
	for a; do
		case $a in
		-h|--help) show_head; exit 0 ;;
		-*) show_head >&2; exit 2 ;;
		esac
	done
}
show_head() { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; }

need() { # command...
	local c
	for c; do command -v "$c" >/dev/null || skip "no $c here"; done
}

# One process at a time makes a thing of the cache; the others wait for it.  Held
# until the shell that called ends.
lock() { # name
	mkdir -p "$CACHE/locks" && exec 9>"$CACHE/locks/$1" || fail "cannot write to $CACHE"
	flock 9
}

# What depends on these files is named after this word.
digest() { # file...
	cat "$@" | sha256sum | cut -c 1-12
}
