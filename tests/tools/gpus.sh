#!/bin/sh
# SPDX-License-Identifier: MIT
# Which GPUs -d takes: ordinals, UUIDs, PCI addresses, lists, all; and what it says of others.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
export SOFTCUDA_DEVICES=3

for t in copybw copylat; do
	set -- "${TOOLS:?}/gdrcopy_$t" --soft --sizes 4 -w 2 -r 2
	# chosen ORDINALS OPTION
	chosen() {
		ordinals=$1 list=$2
		shift 2
		expect 0 "$@" -d "$list"
		silent
		taken=$(sed -n 's/^selecting device //p' "$OUT/stdout" | xargs)
		[ "$taken" = "$ordinals" ] || fail "-d $list took $taken, not $ordinals"
	}

	chosen 0 0 "$@"
	chosen 2 2 "$@"
	chosen 2 002 "$@"
	chosen '0 1 2' all "$@"
	chosen '2 0' 2,0 "$@"
	chosen '1 2' 1,2,1 "$@"
	chosen 1 5cda:02:00.0 "$@"
	chosen 1 00005CDA:02:00 "$@"
	expect 0 "$@" -d 1
	uuid=$(sed -n 's/^# gpu_uuid: //p' "$OUT/stdout")
	chosen '1 0' "$uuid,0" "$@"
	chosen 1 "$(echo "$uuid" | tr a-f A-F)" "$@"

	expect 1 "$@" -d 3
	complained '^ERROR: GPU 3: there are 3 GPUs, numbers 0 to 2$'
	expect 1 "$@" -d 99999999999999999999
	complained '^ERROR: GPU 99999999999999999999: there are 3 GPUs'
	expect 1 "$@" -d 5cda:09:00.0
	complained '^ERROR: GPU 5cda:09:00.0: there are 3 GPUs'
	expect 1 "$@" -d 01:00.0
	complained '^ERROR: GPU 01:00.0: there are 3 GPUs'
	expect 1 "$@" -d GPU-00
	complained '^ERROR: GPU GPU-00: there are 3 GPUs'
	expect 1 "$@" -d "${uuid%?}"
	complained '^ERROR: GPU GPU-.*: the UUIDs of 3 GPUs start so$'
	expect 1 env SOFTCUDA_DEVICES=1 "$@" -d 7
	complained '^ERROR: GPU 7: there is 1 GPU, number 0$'

	# Results name their GPU; a mismatch on the first is not forgotten on the second.
	expect 0 "$@" -d 0,2 --csv
	count '^0,gdr_copy_to_mapping,' 1
	count '^2,gdr_copy_to_mapping,' 1
	expect 1 env LD_PRELOAD="${SHIM:?}" SHIM_MODE=write SHIM_SIZE=4 "$@" -d 0,2
	# Four checks of a write of each GPU see it.
	said '^# DATA MISMATCH: 8 checks failed$'
	# Of the second GPU something fails: what was measured on the first stays.
	expect 1 env SOFTCUDA_FAIL=cuDevicePrimaryCtxRetain:2:999 "$@" -d 0,2 --csv
	complained '^ERROR: cuDevicePrimaryCtxRetain: CUDA_ERROR_UNKNOWN'
	count '^0,gdr_copy_to_mapping,' 1
	count '^2,' 0
done

# Of each GPU what follows from its results; the summary has that of the last.
for t in copybw copylat; do
	expect 0 "$TOOLS/gdrcopy_$t" --soft --sizes 4,4K -w 20 -r 20 --cumemcpy -d all --json
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
names = [n for n in d["summary"] if n.startswith("cumemcpy_overtakes_")]
assert len(names) == 4 and len(d["gpus"]) == 3, d
assert all(n in g for n in names for g in d["gpus"]), d["gpus"]
assert all(d["gpus"][-1][n] == d["summary"][n] for n in names), d
' "$OUT/stdout" 2>"$OUT/stderr" || fail "where cuMemcpy overtakes on each GPU"
done

expect 0 "$TOOLS/gdrcopy_copytune" --soft --sizes 8 --threads 1 -t 1 -d all --csv
for gpu in 0 1 2; do said "^$gpu,routine,to,8,0,0,"; done
