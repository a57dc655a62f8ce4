#!/bin/sh
# SPDX-License-Identifier: MIT
# With standard files closed, what a tool prints goes nowhere, least of all into
# device memory; what cannot be written is an error that says why.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

bw="${TOOLS:?}/gdrcopy_copybw --soft --csv --sizes 4K -w 10 -r 2"

# shellcheck disable=SC2086
{
	$bw >&- 2>"$OUT/stderr"
	[ $? -eq 1 ] || fail "closed stdout: exit status is not 1"
	complained '^ERROR: the report could not be written: Bad file descriptor$'
	grep -i mismatch "$OUT/stderr" && fail "the report was written into device memory"
	$bw >"$OUT/stdout" 2>&- <&- || fail "closed stdin and stderr: exit status $?"
	said ",4096,"
	LD_PRELOAD="${SHIM:?}" SHIM_NO_NULL=1 $bw >"$OUT/stdout" 2>"$OUT/stderr" <&- ||
		fail "closed stdin, and no /dev/null: exit status $?"
	silent
	said ",4096,"
	$bw >/dev/full 2>"$OUT/stderr"
	[ $? -eq 1 ] || fail "full disk: exit status is not 1"
	complained 'No space left on device'
	"$TOOLS/gdrcopy_copybw" --help >/dev/full 2>"$OUT/stderr"
	[ $? -eq 1 ] || fail "help on a full disk: exit status is not 1"
	complained 'No space left on device'
}
exit 0
