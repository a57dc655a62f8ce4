#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line: help against its golden text and the man page, and what is refused.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
doctor=${DOCTOR:?}

documented "$doctor" doctor 7
expect 0 "$doctor" -q --help
diff -u "$SRC/doctor.help" "$OUT/stdout" || fail "-q --help differs from doctor.help"

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
