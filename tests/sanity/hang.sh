#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing hangs and nothing is left: a test that hangs with a family of helpers,
# tests that end while a helper goes on.  All ignore SIGTERM.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
planted=${PLANTED:?}
PLANTED_DIR=$OUT
export PLANTED_DIR

# gone NAME...: the processes that left these files do not exist.
gone() {
	for name; do
		[ -s "$OUT/$name" ] || fail "$name left no pid"
		pid=$(cat "$OUT/$name")
		[ ! -e "/proc/$pid" ] || fail "$name, process $pid, is still there"
		rm "$OUT/$name"
	done
}

start=$(date +%s)
expect 1 "$planted" --timeout 10 -t more_hang -t planted_pass
[ $(($(date +%s) - start)) -lt 120 ] || fail "the time limit of 10 s took longer"
said '^    more_hang \(timed out after 10 s\)$'
said '^    planted_pass$'
gone hang.test hang.helper hang.orphan hang.parent

expect 0 "$planted" -t more_leave_helper
gone left.helper
expect 1 "$planted" -t more_die_and_leave_helper
said 'killed by SIGKILL \(signal 9, Killed\)'
gone died.helper
