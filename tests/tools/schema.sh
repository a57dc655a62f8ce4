#!/bin/sh
# SPDX-License-Identifier: MIT
# What every program prints with --json is what docs/report.schema.json says; and that
# the validator notices when it is not.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
schema=$SRC/../../docs/report.schema.json

# valid STATUS NAME PROGRAM OPTIONS...
valid() {
	status=$1 name=$2 program=${TOOLS:?}/gdrcopy_$3
	shift 3
	expect "$status" "$program" --soft --json "$@"
	cp "$OUT/stdout" "$OUT/$name.json"
	python3 "$SRC/schema.py" "$schema" "$OUT/$name.json" >"$OUT/stdout" ||
		fail "$name is not what the schema says"
}

valid 0 copybw copybw --sizes 4,4K -w 10 -r 10
valid 0 copybw-cuda copybw --sizes 4,4K -w 10 -r 10 --cumemcpy --repeat 2
valid 0 copybw-threads copybw --sizes 4K --threads 2 --bidirectional --min-time 20
valid 0 copylat copylat --sizes 4,4K -w 10 -r 10 -c
valid 0 copylat-calls copylat --sizes 4 -w 10 -r 10 --per-call --min-time 5
valid 0 copytune copytune --sizes 64 --threads 0,1 -t 1
valid 0 sanity sanity -t 'basic_*'
valid 0 apiperf apiperf -s 64K -n 3
export SOFTCUDA_DEVICES=2
valid 0 gpus copybw --sizes 4 -w 10 -r 10 -d all
unset SOFTCUDA_DEVICES
export SOFTCUDA_FAIL='cuMemAlloc:*:2'
valid 1 error copylat --sizes 4
unset SOFTCUDA_FAIL
sed -E 's/("mb_per_s": )[0-9.e+-]+/\11e-6/' "$OUT/copybw.json" >"$OUT/slow.json"
valid 0 baseline copybw --sizes 4,4K -w 10 -r 10 --baseline "$OUT/slow.json"

# spoil PROGRAM: change the document d in some way; it is not valid any more.
spoil() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))' "$OUT/copybw.json" "$OUT/spoilt.json" "$1" ||
		fail "$1"
	expect 1 python3 "$SRC/schema.py" "$schema" "$OUT/spoilt.json"
	said "^$OUT/spoilt.json: "
}

spoil 'd["schema"] = 2'
spoil 'd["tool"] = "copybw"'
spoil 'd["more"] = 1'
spoil 'del d["notes"]'
spoil 'd["notes"] = [1]'
spoil 'd["provenance"]["clock_cost_us"] = "0.02"'
spoil 'd["provenance"]["softcuda"] = "true"'
spoil 'd["provenance"]["more"] = []'
spoil 'del d["gpus"][0]["gpu_pci"]'
spoil 'd["gpus"][0]["running_on_cpu"] = "1"'
spoil 'd["gpus"][0]["gpu_uuid"] = "GPU-1"'
spoil 'd["gpus"][0]["backend"] = "none"'
spoil 'd["results"][0]["size_bytes"] = 4.5'
spoil 'd["results"][0]["size_bytes"] = -4'
spoil 'd["results"][0]["complete"] = 1'
spoil 'd["results"][0]["mb_per_s"] = "fast"'
spoil 'd["results"][1]["other"] = 1'
spoil 'd["exit_status"] = True'
