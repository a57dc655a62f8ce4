#!/bin/sh
# SPDX-License-Identifier: MIT
# A signal ends the run: the test that runs and its helpers are killed, the
# results so far are printed, the exit status tells.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
planted=${PLANTED:?}
PLANTED_DIR=$OUT
export PLANTED_DIR

# with_hup DFL|IGN COMMAND...: whatever the caller of this test does with SIGHUP.
with_hup() {
	exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGHUP, getattr(signal, "SIG_" + sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])' "$@"
}

# stop SIGNAL STATUS [HUP]: one that the caller ignores comes first.
stop() {
	rm -f "$OUT"/hang.*
	hup=DFL
	[ $# -lt 3 ] || hup=IGN
	with_hup $hup "$planted" -t planted_pass -t more_hang -t planted_fail \
		>"$OUT/stdout" 2>"$OUT/stderr" &
	runner=$!
	n=0
	until [ -s "$OUT/hang.orphan" ] && [ -s "$OUT/hang.helper" ] && [ -s "$OUT/hang.test" ] &&
		[ -s "$OUT/hang.parent" ]; do
		n=$((n + 1))
		[ $n -lt 600 ] || fail "the test does not start"
		sleep 0.05
	done
	[ $# -lt 3 ] || kill -s "$3" $runner
	kill -s "$1" $runner
	wait $runner
	got=$?
	[ $got -eq "$2" ] || fail "$1: exit status $got, expected $2"
	complained '^INTERRUPTED: 1 of 3 tests were run$'
	complained "status=$2\$"
	said '^Total: 1, Passed: 1, Failed: 0, Waived: 0$'
	for f in "$OUT"/hang.*; do
		pid=$(cat "$f")
		[ ! -e "/proc/$pid" ] || fail "$f, process $pid, is still there"
	done
}

# A shell starts commands in the background with SIGINT ignored; the runner waits for it all the same.
stop TERM 143
stop INT 130
stop HUP 129
# As nohup has it.
stop TERM 143 HUP
