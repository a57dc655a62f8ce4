#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_copybw with several threads and in both directions at a time: lines, rows, the
# sums, and that a single wrong bit of any of the threads is seen.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
set -- "${TOOLS:?}/gdrcopy_copybw" --soft --min-time 30

rate='[0-9.]+MB/s'
expect 0 "$@" --sizes 4K,64K --threads 3
silent
said '^writing test, size=4096 offset=0 threads=3$'
count "^write BW: $rate \\([0-9.]+ GiB/s\\)\$" 2
count "^read BW: $rate \\([0-9.]+ GiB/s\\)\$" 2
for i in 0 1 2; do count "^  thread $i: $rate\$" 4; done
said '^rounded size: 196608$'
expect 0 "$@" --sizes 1000 -o 8 --bidirectional
silent
said '^writing and reading test, size=1000 offset=8 threads=1$'
count "^both BW: $rate\$" 1
count '^  thread' 0
expect 0 "$@" --sizes 1000 --threads 2 --bidirectional --repeat 2
count "^both BW: $rate\$" 2
for i in 0 1 2 3; do count "^  thread $i: $rate\$" 2; done

# The sum of the threads is that of the row without a thread.
expect 0 "$@" --sizes 64K --threads 2 --bidirectional --csv
grep -v '^#' "$OUT/stdout" >"$OUT/rows"
python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 6, rows
for d in "to", "from":
    total, *parts = [r for r in rows if r["direction"] == d]
    assert total["thread"] == "" and len(parts) == 2, rows
    for field in "mb_per_s", "iterations":
        want, got = float(total[field]), sum(float(p[field]) for p in parts)
        assert abs(want - got) <= 1e-3 * want, (field, want, got)
    for p in parts:
        mb = 65536 * float(p["iterations"]) / float(p["elapsed_us"])
        assert abs(float(p["mb_per_s"]) - mb) <= 1e-3 * mb, p
        # the main thread counts the time: one that got a CPU late has less of it
        assert float(p["elapsed_us"]) > 0, p
' "$OUT/rows" >"$OUT/stdout" 2>&1 || fail "the rows do not add up"

# Each thread has its own piece, and each is looked at.
for mode in write read; do
	for more in '--threads 2' --bidirectional '--threads 2 --bidirectional'; do
		# shellcheck disable=SC2086
		expect 1 env LD_PRELOAD="${SHIM:?}" SHIM_MODE=$mode SHIM_SIZE=4096 "$@" --sizes 4K $more
		complained "^ERROR: data mismatch: $mode"
		said '^# DATA MISMATCH: [0-9]+ checks failed$'
		# shellcheck disable=SC2086
		expect 0 env LD_PRELOAD="$SHIM" SHIM_MODE=$mode SHIM_SIZE=4096 "$@" --sizes 4K $more \
			--no-verify
		# shellcheck disable=SC2086
		expect 1 env LD_PRELOAD="$SHIM" SHIM_MODE=fail$mode SHIM_SIZE=4096 "$@" --sizes 4K $more \
			--no-verify
		complained '^ERROR: copying by threads: Input/output error \(5\)'
	done
done
