#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_pplat: help against its golden text and the manual page, what is refused,
# signals, and the machine-readable forms.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
pplat=${TOOLS:?}/gdrcopy_pplat

documented "$pplat" pplat 20

refused() {
	pattern=$1
	shift
	expect 1 "$pplat" --soft "$@"
	complained "$pattern"
	count 'Round-trip' 0
}

refused '^ERROR: data size 6 is not a multiple of 4$' -s 6
refused '^ERROR: data size 10 is not a multiple of 4$' --sizes 0,4,10
refused '^ERROR: data size 6 is not a multiple of 4$' --min 4 --max 8 --step 2
refused '^ERROR: -s excludes --sizes' -s 4 --sizes 8
refused '^ERROR: --sizes excludes --min' --sizes 8 --min 4
refused '^ERROR: option -s, --size: ' -s 2G
for bad in 0 16385 x 1,0; do
	refused '^ERROR: option -B, --blocks: ' -B $bad
done
for bad in 0 1025 -1; do
	refused '^ERROR: option -T, --block-threads: ' -T $bad
done
for bad in 0 8388609 1x; do
	refused '^ERROR: option -t, --iterations: ' -t $bad
done
refused '^ERROR: option -u, --timeout: ' -u -1
refused '^ERROR: option -m, --mode: "2" is not one of 0, 1, both$' -m 2
for o in -G -C -D; do
	refused "^ERROR: option $o, --.*: \"GPUMEM\" is not one of gpumem, hostmem\$" $o GPUMEM
done
refused '^ERROR: the time of each round trip is kept: at most 10000000 of a measurement, -t and --re' \
	-t 5000001 --repeat 2
refused '^ERROR: option --verify-every: ' --verify-every 0

# A signal: the kernel ends, partial results, everything released.
begun='^Round-trip latency per iteration is \(min\)'
interrupted INT 130 "$begun" "$pplat" --soft -t 8000000 -s 64 -B 2
said '^# INTERRUPTED: these are partial results\.$'
said '^# not complete: cpu_produces with 64 bytes, [0-9]+ round trips$'
said '^closing gdrdrv$'
interrupted TERM 143 "$begun" "$pplat" --soft -t 8000000 -m 1
said '^# INTERRUPTED: these are partial results\.$'
said '^# not complete: gpu_produces with 0 bytes, [0-9]+ round trips$'
# Nothing that counts has been measured yet.
interrupted INT 130 '^# INTERRUPTED: these are partial results\.$' "$pplat" --soft --warmup 8000000 \
	-m both
count '^Round-trip' 0
said '^closing gdrdrv$'

# What --json printed is what the schema says.
valid() {
	python3 "$SRC/schema.py" "$SRC/../../docs/report.schema.json" "$OUT/stdout" \
		>"$OUT/python" || fail "$(cat "$OUT/python")"
}

interrupted INT 130 '"interrupted": true' "$pplat" --soft --json -t 8000000
valid
expect 1 env SOFTCUDA_FAIL='cuLaunchKernel:2:701' "$pplat" --soft --json --sizes 0,64
valid
grep -q '"exit_status": 1' "$OUT/stdout" || fail "the document does not tell the exit status"

for form in csv json; do
	expect 0 "$pplat" --soft --$form -m both --sizes 0,64,4K -B 1,2 -t 20 --warmup 5
	silent
	python3 "$SRC/pplat_formats.py" $form <"$OUT/stdout" >"$OUT/python" 2>&1 ||
		fail "$(cat "$OUT/python")"
done
valid
mv "$OUT/stdout" "$OUT/base.json"
# Medians of softcuda vary by any factor; of an hour all are better, of nothing worse.
sed -E 's/("median_us": )[0-9.e+-]+/\13.6e9/' "$OUT/base.json" >"$OUT/slow.json"
expect 0 "$pplat" --soft -m both --sizes 0,64 -B 1,2 -t 20 --baseline "$OUT/slow.json"
sed -E 's/("median_us": )[0-9.e+-]+/\11e-6/' "$OUT/base.json" >"$OUT/none.json"
expect 3 "$pplat" --soft -m both --sizes 0,64 -B 1,2 -t 20 --baseline "$OUT/none.json"

# A curve for each number of blocks.
if command -v gnuplot >/dev/null; then
	expect 0 "$pplat" --soft -m both --sizes 64,128 -B 1,2 -t 20 --plot "$OUT/pplat.svg"
	expect 1 "$pplat" --soft -m both --plot "$OUT/none.svg"
	complained '^ERROR: option --plot: the picture is one of times against bytes of data'
	[ ! -s "$OUT/stdout" ] || fail "something was measured for no picture"
	for words in '1 block of 1024 threads' '2 blocks of 1024 threads' 'The CPU produces'; do
		grep -q "$words" "$OUT/pplat.svg" || fail "the picture lacks: $words"
	done
fi
exit 0
