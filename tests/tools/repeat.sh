#!/bin/sh
# SPDX-License-Identifier: MIT
# --repeat, --min-time and --per-call: how many calls are made, and what is told of them.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
lat="${TOOLS:?}/gdrcopy_copylat --soft --sizes 64"
tab=$(printf '\t')

# rows CONDITION: holds for each row of a JSON report, r, of the document d.
rows() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["results"]
for r in d["results"]:
    assert '"$1"', r' "$OUT/stdout" 2>"$OUT/stderr" || fail "not so: $1"
}

# shellcheck disable=SC2086
{
	expect 0 $lat --json --repeat 3 -w 200 -r 10
	rows 'r["iterations"] == (600 if r["direction"] == "to" else 30)'
	rows 'r["rounds"] == 3 and r["samples"] == (300 if r["direction"] == "to" else 30)'
	rows 'r["spread_percent"] >= 0 and d["parameters"]["repeat"] == 3'
	expect 0 $lat --repeat 3 -w 200 -r 10
	said "Min. Time\\(us\\) $tab Spread\\(%\\)\$"
	said "^gdr_copy_to_mapping .* $tab +[0-9]+\\.[0-9]\$"

	expect 0 $lat --json --min-time 50 -w 100 -r 100
	# where the call that was tried first was slow, many short rounds make up the time
	rows 'r["iterations"] * r["mean_us"] >= 0.8 * 50e3 or r["rounds"] > 5'
	rows 'r["samples"] >= 100 and r["complete"]'

	expect 0 $lat --json --per-call -w 1234 -r 55
	rows 'r["samples"] == r["iterations"] == (1234 if r["direction"] == "to" else 55)'
	rows 'd["parameters"]["per_call"] is True and d["parameters"]["timer_us"] > 0'
	rows 'any("taken off" in n for n in d["notes"])'
	rows 'r["min_us"] <= r["median_us"] <= r["p90_us"] <= r["p99_us"] <= r["p999_us"] <= r["max_us"]'
	expect 0 $lat --json --per-call --min-time 50 -w 100 -r 100
	rows 'r["samples"] == r["iterations"] > 100'
	expect 0 $lat --per-call -w 100 -r 10
	silent
	said "Min. Time\\(us\\) $tab P90\\(us\\) $tab P99\\(us\\) $tab P99.9\\(us\\) $tab Max. Time\\(us\\)\$"
	said "^gdr_copy_to_mapping( $tab +[0-9.]+){7}\$"
	said '^# each call is timed by itself; two readings of the clock show [0-9.]+ us'
}

# The tails of copybw's calls.
expect 0 "$TOOLS/gdrcopy_copybw" --soft --sizes 4K --per-call -w 100 -r 10
silent
us='[0-9.e+]+'
count "^  us a call: P0 $us, P50 $us, P90 $us, P99 $us, P99.9 $us, max $us\$" 2
expect 0 "$TOOLS/gdrcopy_copybw" --soft --sizes 4K --per-call -w 1234 -r 55 --json
rows 'r["samples"] == r["iterations"] == (1234 if r["direction"] == "to" else 55)'
rows 'r["min_us"] <= r["median_us"] <= r["p90_us"] <= r["p99_us"] <= r["p999_us"] <= r["max_us"]'
rows 'abs(r["mb_per_s"] * r["mean_us"] / 4096 - 1) < 1e-6'

expect 0 "$TOOLS/gdrcopy_copybw" --soft --sizes 4K --repeat 2 -w 100 -r 10
count '^(write|read) BW: [0-9.]+MB/s \([0-9.]+ GiB/s\) rounds apart by [0-9.]+ %$' 2
