#!/bin/sh
# SPDX-License-Identifier: MIT
# The runner, on tests that behave badly on purpose: results, reasons, lists,
# exit status; names, patterns, rounds, order.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
planted=${PLANTED:?}
PLANTED_DIR=$OUT
export PLANTED_DIR

# The whole output of a run with all three results.
expect 1 "$planted"
diff -u "$SRC/planted.out" "$OUT/stdout" || fail "the summary differs from planted.out"
complained '^Assertion "1 \+ 1 == 3" failed at planted\.c:[0-9]+$'
tail -n 1 "$OUT/stderr" | grep -q 'status=1$' || fail "the last line has no status=1"
! grep -q '&&&&' "$OUT/stderr" || fail "progress without -v"

expect 1 "$planted" -v
for line in 'RUNNING planted_pass' 'PASSED planted_pass' 'RUNNING planted_fail' \
	'FAILED planted_fail' 'RUNNING planted_waive' 'WAIVED planted_waive'; do
	complained "^&&&& $line\$"
done
complained '^waived: this "is" <the> reason & no other$'
expect 1 "$planted" -s
[ ! -s "$OUT/stdout" ] || fail "a summary with -s"
complained 'status=1$'
expect 0 "$planted" -t planted_pass
count 'List of' 1
expect 0 "$planted" -t planted_waive
said '^Total: 1, Passed: 0, Failed: 0, Waived: 1$'
expect 0 "$planted" -s -t planted_pass
silent

# why TEST RESULT REASON: what the summary says.
why() {
	case $2 in
	failed) expect 1 "$planted" -t "$1" ;;
	*) expect 0 "$planted" -t "$1" ;;
	esac
	said "^List of $2 tests:\$"
	said "^    $1 \\($3\\)\$"
}
why more_exit_3 failed 'exit status 3'
why more_exit_2 waived 'no reason given'
why more_dies failed 'killed by SIGABRT \(signal 6, Aborted\)(, core dumped)?'
why more_faults failed 'killed by SIGSEGV \(signal 11, Segmentation fault\)(, core dumped)?'
why more_faults_elsewhere failed 'killed by SIGSEGV \(signal 11, .*\)(, core dumped)?'
why more_helper_fails failed 'planted\.c:[0-9]+: 2 < 1 \(in a helper process\)'
why more_helper_dies failed '.*the helper process ends well: it was killed by SIGILL'
why more_helper_silent failed '.*a message from the other process: it ended without one'
why more_fail_stdout failed 'planted\.c:[0-9]+: 0 == 1'
said '^a table of differences$'
expect 0 "$planted" -t more_probes
expect 0 "$planted" -v -t more_note
complained '^first note$'

# Order as given, twice if named twice; patterns; groups.
expect 0 "$planted" -v -t planted_pass -t extended_pass -t planted_pass
said '^Total: 3, Passed: 3'
grep RUNNING "$OUT/stderr" >"$OUT/order"
printf '&&&& RUNNING %s\n' planted_pass extended_pass planted_pass | diff - "$OUT/order" ||
	fail "not in the order given"
expect 0 "$planted" --test '*_pass'
said '^Total: 3, Passed: 3'
expect 0 "$planted" -t 'more_not[e]' -t 'planted_?ass'
said '^Total: 2, Passed: 2'
expect 1 "$planted" -e
said '^Total: 5, '
expect 0 "$planted" stray -t planted_pass other
complained '^NOTE: argument "stray" is ignored$'
complained '^NOTE: argument "other" is ignored$'

# Rounds: every entry counts, a name is listed once.
expect 1 "$planted" --repeat 3
said '^Total: 12, Passed: 6, Failed: 3, Waived: 3$'
said '^    planted_pass x 3$'
said '^    planted_fail x 3 \(planted'
count '^    planted_waive' 1

# A seed gives its order again; orders differ.
expect 1 "$planted" -v --shuffle --repeat 4
seed=$(sed -n 's/^NOTE: shuffled; --seed \([0-9]*\) .*/\1/p' "$OUT/stderr")
[ -n "$seed" ] || fail "no seed"
grep RUNNING "$OUT/stderr" >"$OUT/first"
expect 1 "$planted" -v --seed "$seed" --repeat 4
grep RUNNING "$OUT/stderr" | cmp -s - "$OUT/first" || fail "seed $seed gave another order"
[ "$(wc -l <"$OUT/first")" -eq 16 ] || fail "not 16 tests"
for s in 1 2 3 4 5 6 7 8; do
	expect 1 "$planted" -v --seed $s
	grep RUNNING "$OUT/stderr"
done | sort | uniq -c | awk '$1 != 8 { bad = 1 } END { exit bad || NR != 4 }' ||
	fail "a shuffled round lost a test"
for s in 1 2 3 4 5 6 7 8; do
	expect 1 "$planted" -v --seed $s
	grep RUNNING "$OUT/stderr" | tr '\n' ' '
	echo
done | sort -u | wc -l | grep -qvx 1 || fail "every seed gives the same order"

# A caller that ignores SIGCHLD: how tests and helpers end is known all the same.
expect 1 python3 "$SRC/../tools/no_sigchld.py" "$planted" --timeout 30 -t planted_pass \
	-t more_helper_dies
said '^    planted_pass$'
said '^    more_helper_dies \(.*the helper process ends well: it was killed by SIGILL\)$'

# with_child COMMAND...: run by exec in a process that has a child.  The child is let be.
with_child() {
	# shellcheck disable=SC2016
	expect 0 sh -c 'sleep 600 & echo $! >"$PLANTED_DIR/child"; exec "$@"' sh "$@"
	kill "$(cat "$OUT/child")" || fail "the child that was there before is gone"
}

# Jobs do not wait for it, and still end what their tests leave behind.
with_child "$planted" -t planted_pass -t more_leave_helper
said '^Total: 2, Passed: 2'
silent
[ ! -e "/proc/$(cat "$OUT/left.helper")" ] || fail "a helper outlived its test"

# Who leaves the group of its test is waited for, and told of; but that once.
expect 0 "$planted" -t more_leave_escaped -t planted_pass
kill -KILL "$(cat "$OUT/escaped.helper")" || fail "the process that left its group is gone"
said '^Total: 2, Passed: 2'
complained '^WARNING: a process that left group [0-9]+ goes on$'
[ "$(wc -l <"$OUT/stderr")" -eq 1 ] || fail "a job waits for the process of another"
