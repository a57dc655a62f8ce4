#!/bin/sh
# SPDX-License-Identifier: MIT
# The kernels of gdrcopy_pplat: all there, for old drivers and GPUs, and accepted by
# NVIDIA's assembler, where it is installed, for what it knows.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
ptx=$SRC/../../tools/pplat.ptx

for line in '^\.version 6\.0$' '^\.target sm_70$' 'ld\.acquire\.sys' 'st\.release\.sys'; do
	grep -q -- "$line" "$ptx" || fail "pplat.ptx has no $line"
done
for entry in pplat_cpu_flag pplat_cpu_data pplat_gpu_flag pplat_gpu_data; do
	grep -q "^\.visible \.entry $entry(" "$ptx" || fail "pplat.ptx has no $entry"
done

PATH=$PATH:/usr/local/cuda/bin
command -v ptxas >/dev/null || { echo 'skipped the rest: no ptxas'; exit 77; }
n=0
for arch in sm_70 sm_75 sm_80 sm_90 sm_100 sm_120; do
	ptxas --help | grep -q "'$arch'" || continue
	expect 0 ptxas -arch=$arch "$ptx" -o "$OUT/cubin"
	n=$((n + 1))
done
[ $n -gt 0 ] || fail "ptxas knows none of these GPUs"
echo "$n GPUs"
