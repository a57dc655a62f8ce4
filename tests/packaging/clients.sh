#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs load at run time is in the package that they depend on: both names of the
# library, and no kernel module, nor what builds one, comes with it.
set -u
cd "$(dirname "$0")/../../packaging" || exit 1
bad=0
complain() { echo "FAILED: $1"; bad=1; }

# One field of one package of debian/control, on one line.
field() { # package, field
	awk -v p="$1" -v f="$2:" '
		$1 == "Package:" { here = $2 == p }
		/^[^ ]/ { on = here && $1 == f }
		on { printf "%s ", $0 }' debian/control
}

for name in 'libgdrapi.so' 'libgdrapi.so.*'; do
	grep -qxF "usr/lib/*/$name" debian/libgdrapi2.install || complain "libgdrapi2 has no $name"
	grep -qF "/$name" debian/libgdrapi-dev.install && complain "libgdrapi-dev has $name"
done
for p in libgdrapi2 libgdrapi-dev gdrcopy-tools; do
	[ -n "$(field $p Depends)" ] || complain "$p depends on nothing: not found?"
	for f in Pre-Depends Depends Recommends; do
		field $p $f | grep -qE 'dkms|gdrdrv|headers' && complain "$p: $(field $p $f)"
	done
done
# NVIDIA's package of the library has the header too, and either may be unpacked first.
for p in libgdrapi2 libgdrapi-dev; do
	field $p Replaces | grep -qw libgdrapi || complain "$p does not replace libgdrapi"
done
field gdrcopy Depends | grep -q dkms || complain 'the package of all brings no module'

# The preamble and files of the main package; a subpackage starts at %package.
main=$(sed '/^%package/,$d' rpm/gdrcopy.spec)
echo "$main" | grep -q '^Name: *gdrcopy$' || complain 'gdrcopy.spec: no main package'
echo "$main" | grep -E '^(Requires|Recommends):' | grep -qE 'dkms|kmod|kernel' &&
	complain 'gdrcopy.spec: the library requires a module'
files=$(sed -n '/^%files$/,/^%files ./p' rpm/gdrcopy.spec)
for name in 'libgdrapi.so' 'libgdrapi.so.*'; do
	echo "$files" | grep -qxF "%{_libdir}/$name" || complain "gdrcopy.spec: no $name at run time"
done
exit $bad
