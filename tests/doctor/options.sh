#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line: help against its golden text and the man page, and what is refused.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
doctor=${DOCTOR:?}

for h in -h --help '-q --help'; do
	# shellcheck disable=SC2086
	expect 0 "$doctor" $h
	silent
	diff -u "$SRC/doctor.help" "$OUT/stdout" || fail "$h differs from doctor.help"
done
expect 0 "$doctor" --version
said '^gdrcopy_doctor [0-9.]+ \(libgdrapi 2\.[0-9]+\)$'

# Each option is in the man page.
sed -n 's/^  .*--\([a-z-]*\).*/\1/p' "$SRC/doctor.help" >"$OUT/names"
[ "$(wc -l <"$OUT/names")" -gt 7 ] || fail "no options in doctor.help"
while read -r o; do
	grep -q -- "--$o\*" "$SRC/../../man/gdrcopy_doctor.1.scd" ||
		fail "gdrcopy_doctor.1 does not have --$o"
done <"$OUT/names"

expect 1 "$doctor" -Z
complained '^ERROR: invalid option'
expect 1 "$doctor" here
complained '^ERROR: unexpected argument "here"'
expect 1 "$doctor" --csv --json
complained '^ERROR: --csv and --json exclude each other$'
expect 1 "$doctor" -d nonsense
complained '^ERROR: option -d, --device: "nonsense" is neither "all" nor'
expect 1 "$doctor" --soft --root "$OUT/none"
complained '^ERROR: option --root: .*/none: No such file or directory$'
expect 1 "$doctor" --soft --root "$OUT/names"
complained '^ERROR: option --root: .*/names: Not a directory$'
for bad in 0 -1 x 3601; do
	expect 1 "$doctor" --timeout "$bad"
	complained '^ERROR: option --timeout: '
done
[ -e /dev/full ] || exit 0
"$doctor" --root "$OUT" >/dev/full 2>"$OUT/stderr" && fail "a full disk was not noticed"
complained '^ERROR: the report could not be written: No space left'
