#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line: help and list against their golden texts and the man page,
# the 28 classic names, and what is refused.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
sanity=${SANITY:?}

documented "$sanity" sanity 10
for h in '-h -Z' '-t nothing -h'; do
	# shellcheck disable=SC2086
	expect 0 "$sanity" $h
	silent
	diff -u "$SRC/sanity.help" "$OUT/stdout" || fail "$h differs from sanity.help"
done
for l in -l --list '-l -Z' '-s -l'; do
	# shellcheck disable=SC2086
	expect 0 "$sanity" $l
	silent
	diff -u "$SRC/list.txt" "$OUT/stdout" || fail "$l differs from list.txt"
done

# Names that scripts and records of earlier releases have.
sed '/^List of extended/,$d' "$SRC/list.txt" >"$OUT/default"
[ "$(grep -c '^    ' "$OUT/default")" -eq 36 ] || fail "not 36 default tests"
[ "$(wc -l <"$SRC/classic.txt")" -eq 28 ] || fail "not 28 classic names"
while read -r name; do
	grep -qx "    $name" "$OUT/default" || fail "$name is not a default test"
done <"$SRC/classic.txt"

expect 1 "$sanity" -Z
complained "invalid option -- 'Z'"
complained '^ERROR: invalid option'
expect 1 "$sanity" --nonsense
expect 1 "$sanity" -t
complained 'requires an argument'
for bad in x -1 '' 1K all 0,1 '1,'; do
	expect 1 "$sanity" -d "$bad"
	complained '^ERROR: option -d, --device: '
done
expect 1 "$sanity" --repeat 0
complained '^ERROR: option --repeat: .* out of range'
expect 1 "$sanity" --json --tap
complained '^ERROR: --json, --junit and --tap exclude each other$'

# Nothing runs if a name is wrong, and every wrong one is named.
expect 1 "$sanity" -t basic_cumemalloc -t no_such_test -t 'nor_*'
[ ! -s "$OUT/stdout" ] || fail "something ran"
complained '^ERROR: there is no test "no_such_test"'
complained '^ERROR: no test matches "nor_\*"'
tail -n 1 "$OUT/stderr" | grep -q 'status=22$' || fail "the last line has no status=22"
