#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the fault loop; then hold its counts against what the objects of the library
# import: each name was made to fail, or is listed as one that cannot, or need not.
# usage: names.sh FAULTS ARCHIVE CANNOT_FAIL
set -u

out=$("$1")
ret=$?
echo "$out"
[ $ret = 0 ] || exit $ret

bad=0
while read -r name count _; do
	if [ "$count" = 0 ]; then
		echo "$name: never made to fail"
		bad=1
	fi
done < <(echo "$out" | sed '$d')

# Of all objects, less what one of them defines; 64 at the end: of large files.
imported=$(nm -u "$2" | awk '$1 == "U" || $1 == "w" { print $2 }' | sort -u)
defined=$(nm --defined-only "$2" | awk 'NF == 3 { print $3 }' | sort -u)
for name in $(comm -23 <(echo "$imported") <(echo "$defined")); do
	case $name in
	__asan_* | __ubsan_* | __tsan_* | __sanitizer_* | __gcov_* | llvm_gcov_* | _GLOBAL_OFFSET_TABLE_) continue ;;
	esac
	plain=${name%64}
	echo "$out" | grep -q "^${plain} " && continue
	grep -q "^${plain}[[:blank:]]" "$3" && continue
	echo "$name: imported by the library, neither made to fail nor in $(basename "$3")"
	bad=1
done
exit $bad
