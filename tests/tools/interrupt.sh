#!/bin/sh
# SPDX-License-Identifier: MIT
# A signal ends the measurement: partial results, marked as such, orderly
# release of everything, exit status 128 + signal.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

bw="${TOOLS:?}/gdrcopy_copybw --soft"
# shellcheck disable=SC2086
for alloc in cuMemAlloc cuMemCreate; do
	interrupted INT 130 \
		'^write BW: [0-9.]+MB/s \([0-9.]+ GiB/s\) interrupted after [0-9]+ of 1000000000000 iter' \
		$bw -a $alloc -w 1000000000000
	count '^read BW' 0
	said '^# INTERRUPTED: these are partial results\.$'
	said '^closing gdrdrv$'
done

# What was complete before stays so.
# shellcheck disable=SC2086
interrupted TERM 143 '^0,gdr_copy_from_mapping,.*,false$' $bw -l -w 10 -r 1000000000000 --csv
sed '/^#/d' "$OUT/stdout" >"$OUT/csv"
grep -q '^0,gdr_copy_to_mapping,to,gdr_copy,1,0,1,,false,10,.*,true$' "$OUT/csv" || fail "no complete row"
grep -q '^0,gdr_copy_from_mapping,from,gdr_copy,1,0,1,,false,[0-9]*,.*,false$' "$OUT/csv" || fail "no partial row"

interrupted INT 130 '^gdr_copy_to_mapping .* 1 ' "$TOOLS/gdrcopy_copylat" --soft -s 64K \
	-w 1000000000000
said '^# interrupted: gdr_copy_to_mapping of 1 bytes after [0-9]+ of 1000000000000 calls$'
said '^# INTERRUPTED'
count '^gdr_copy_from_mapping' 0

interrupted INT 130 '^cuMemcpy_H2D .* 1 ' "$TOOLS/gdrcopy_copylat" --soft -s 64K -c \
	-w 1000000000000
count '^gdr_copy' 0

# A size that was not tried with all routines has no fastest one.
interrupted INT 130 '^ *16777216 .* [(]interrupted[)]$' "$TOOLS/gdrcopy_copytune" --soft \
	--sizes 16M -t 10000
interrupted INT 130 '^0,routine,to,16777216,.*,false$' "$TOOLS/gdrcopy_copytune" --soft \
	--sizes 16M -t 10000 --csv
count ',true$' 0

# Nor is it told where cuMemcpy overtakes up to a size that it was not tried with.
# shellcheck disable=SC2086
interrupted INT 130 '^read BW: .* interrupted after [0-9]+ of 50000 iterations$' $bw \
	--sizes 4,16M -w 10 -r 50000 --cumemcpy
count '^cuMemcpy_D2H BW' 1
count 'ratio:' 0
count '^cuMemcpy (overtakes|does not|is faster)' 0

# The connection to the terminal was lost.
interrupted HUP 129 '"complete": false' "$TOOLS/gdrcopy_copylat" --soft -s 64K \
	-w 1000000000000 --json
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["interrupted"] and d["exit_status"] == 129 and d["results"], d
' "$OUT/stdout" 2>"$OUT/stderr" || fail "no report after SIGHUP"

# Threads, and a run in which the calls are timed one by one.
# shellcheck disable=SC2086
interrupted INT 130 '^write BW: ' $bw --threads 2 --bidirectional --min-time 600000
said '^# INTERRUPTED'
said '^closing gdrdrv$'
interrupted INT 130 \
	'^# interrupted: gdr_copy_to_mapping of 262144 bytes after [0-9]+ of 10000000 calls$' \
	"$TOOLS/gdrcopy_copylat" --soft --sizes 256K --per-call -w 10000000

# While it waits for whoever reads its output: nothing is lost, and the second signal ends it;
# not under ThreadSanitizer, which delivers signals late, here once the write is done.
readers='patient stuck'
grep -q __tsan_init "$TOOLS/gdrcopy_copylat" && readers=patient
for reader in $readers; do
	expect 0 timeout 120 python3 "$SRC/slow_reader.py" "$reader" \
		"$TOOLS/gdrcopy_copylat" --soft --csv --sizes "$(seq -s , 1 30)" -w 10 -r 10
done

# A signal that the parent ignores, as nohup and shells do for jobs, stays ignored.
# shellcheck disable=SC2016
expect 0 sh -c 'trap "" INT; "$@" & sleep 0.3; kill -INT $!; wait $!' sh \
	"$TOOLS/gdrcopy_copybw" --soft -s 64K -w 300000 -r 1000
count '^read BW' 1
