#!/bin/bash
# SPDX-License-Identifier: MIT
# rebuild-for-nvidia with DKMS, make and modinfo played: what is built anew, for
# which kernels, and what is left alone.
# shellcheck disable=SC2016 # what the commands expand when they run
set -u
program=$(cd "$(dirname "$0")/../../kernel" && pwd)/rebuild-for-nvidia
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 n=0

command_is() {
	printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
# Kernels: the NVIDIA driver that is there, and the gdrdrv with what it is built for.
kernel() { # release, NVIDIA driver or '', who owns gdrdrv: dkms|package|'', built for
	mkdir -p "$work/modules/$1/build"
	touch "$work/modules/$1/build/Makefile"
	echo "$2" >"$work/modules/$1/nvidia"
	echo "$3" >"$work/modules/$1/owner"
	echo "$4" >"$work/modules/$1/built-for"
}
fresh() {
	rm -rf "${work:?}"/*
	mkdir -p "$work"/{bin,modules}
	: >"$work/calls"
	command_is make 'for a; do case $a in KVER=*) cat "$MODULES_ROOT/${a#KVER=}/nvidia" ;; esac; done'
	command_is modinfo '[ -s "$MODULES_ROOT/$2/owner" ] && [ "$(cat "$MODULES_ROOT/$2/owner")" != "" ] || exit 1
		cat "$MODULES_ROOT/$2/built-for"'
	command_is dkms 'k=
		verb=$1
		while [ $# -gt 0 ]; do [ "$1" = -k ] && k=$2; shift; done
		[ $verb = status ] || { echo "$verb $k" >>"$MODULES_ROOT/../calls"; [ ! -e "$MODULES_ROOT/../broken" ]; exit; }
		for d in "$MODULES_ROOT"/*/; do
			r=$(basename "$d")
			[ -z "$k" ] || [ "$r" = "$k" ] || continue
			[ "$(cat "$d/owner")" != dkms ] || echo "gdrdrv/2.6.0, $r, x86_64: installed"
		done
		[ -n "$k" ] || echo "gdrdrv/2.6.0: added"'
}
check() { # what, wanted calls, [wanted status]
	local status
	n=$((n + 1))
	env PATH="$work/bin:$PATH" MODULES_ROOT="$work/modules" SOURCE_ROOT="$work/src" "$program" \
		>"$work/out" 2>&1
	status=$?
	if [ "$(tr '\n' ';' <"$work/calls" 2>/dev/null)" = "$2" ] && [ $status = "${3:-0}" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: status $status, calls: $(tr '\n' ';' <"$work/calls")"
		bad=1
	fi
}

fresh; kernel 1.0 580.1-open dkms 580.1-open
check 'the same driver: nothing' ''
fresh; kernel 1.0 590.1-open dkms 580.1-open
check 'a new version: built anew' 'build 1.0;install 1.0;'
fresh; kernel 1.0 580.1 dkms 580.1-open
check 'the other flavour: built anew' 'build 1.0;install 1.0;'
fresh; kernel 1.0 580.1-open dkms ''
check 'it was built without a driver: built anew' 'build 1.0;install 1.0;'
fresh; kernel 1.0 580.1-open '' ''
check 'it is not there yet: built' 'build 1.0;install 1.0;'
fresh; kernel 1.0 '' dkms 580.1-open
check 'no driver: nothing' ''
fresh; kernel 1.0 590.1 package 580.1
check 'of a package for this kernel: nothing' ''
fresh; kernel 1.0 590.1 dkms 580.1; kernel 2.0 590.1 dkms 590.1; kernel 3.0 590.1 dkms ''
check 'several kernels: those that need it' 'build 1.0;install 1.0;build 3.0;install 3.0;'
fresh; kernel 1.0 590.1 dkms 580.1; rm "$work/modules/1.0/build/Makefile"
check 'no headers: nothing' ''
fresh; kernel 1.0 590.1 dkms 580.1; kernel 2.0 590.1 dkms 580.1; touch "$work/broken"
check 'it does not build: status 1, and the others are tried' 'build 1.0;build 2.0;' 1
[ $bad = 0 ]
