# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by scripts/test-packages
# What README.md and docs/packages.md tell people to type, typed into the fresh system
# as it stands there.

# The indented lines of a section, up to those for other distributions.
commands() { # file, heading
	awk -v section="$2" '
		$0 == section { on = 1; next }
		/^#/ { on = 0 }
		on && /^On Fedora/ { exit }
		on && /^    / { print substr($0, 5) }' "$here/$1"
}
# apt asks people; nobody is there to answer.
echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/90yes"
printf '#!/bin/sh\nexec "$@"\n' >"$root/usr/local/bin/sudo"
chmod +x "$root/usr/local/bin/sudo"
inside_source() { inside sh -c "cd /source && PATH=\$PATH:/usr/local/bin && $1"; }

follow() { # file, heading
	while IFS= read -r line <&5; do check "$1: $line" inside_source "$line"; done \
		5< <(commands "$1" "$2")
}
# First what it needs, which the packages' section names.
follow docs/packages.md '# Packages'
follow README.md '## Build and install'
