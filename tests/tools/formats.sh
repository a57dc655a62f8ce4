#!/bin/sh
# SPDX-License-Identifier: MIT
# --csv and --json: parse, have the fields and values they should, agree with the options.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

check() {
	python3 "$SRC/formats.py" "$@" <"$OUT/stdout" >"$OUT/python" 2>&1 ||
		fail "$(cat "$OUT/python")"
}

bw=${TOOLS:?}/gdrcopy_copybw
lat=$TOOLS/gdrcopy_copylat
for form in csv json; do
	expect 0 "$bw" --soft --$form --sizes 4,64,1K -o 16 -w 250 -r 7 -a cuMemCreate
	silent
	check $form copybw 4,64,1024 250 7 16
	expect 0 "$lat" --soft --$form --sizes 4,64,1K -c -w 300 -r 7
	silent
	check $form copylat 4,64,1024 300 7
done
# Times of single calls are whole nanoseconds, as the clock's are.
expect 0 "$bw" --soft --json --sizes 1 -w 1000 -r 1000 --per-call
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
for ns in [r[k] * 1e3 for r in d["results"] for k in ("min_us", "max_us")]:
    assert abs(ns - round(ns)) < 1e-6, ns
' "$OUT/stdout" 2>"$OUT/stderr" || fail "times of calls below the resolution of the clock"
# Calls of no time at all have no rate.
expect 0 env LD_PRELOAD="${SHIM:?}" SHIM_CLOCK=40 "$bw" --soft --sizes 1 --per-call -w 9 -r 9
said '^write BW: [?]MB/s \([?] GiB/s\)$'
count '^  us a call: P0 0, P50 0, .* max 0$' 2
count '[^a-z](inf|nan)' 0
expect 0 env LD_PRELOAD="$SHIM" SHIM_CLOCK=40 "$bw" --soft --sizes 1 --per-call -w 9 -r 9 --json
python3 "$SRC/schema.py" "$SRC/../../docs/report.schema.json" "$OUT/stdout" >"$OUT/python" ||
	fail "$(cat "$OUT/python")"
count '"mb_per_s": null' 2
expect 1 env SOFTCUDA_FAIL='cuMemAlloc:*:2' "$bw" --soft --json
check error 1
complained '^ERROR: 131072 bytes of device memory with cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY \(2\)$'
interrupted INT 130 '"complete": false' "$lat" --soft --json -w 1000000000000
check interrupted 130
expect 1 env LD_PRELOAD="$SHIM" SHIM_MODE=write SHIM_SIZE=64 "$lat" --soft --json --sizes 64
check error 1
