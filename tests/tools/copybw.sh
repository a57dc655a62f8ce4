#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_copybw over softcuda: lines that scripts look for, sizes, formats of numbers.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
bw=${TOOLS:?}/gdrcopy_copybw

expect 0 "$bw" --soft -w 20 -r 10
silent
said '^# SOFTCUDA: NO GPU IS USED'
tail -n 1 "$OUT/stdout" | grep -q '^# SOFTCUDA' || fail "the last line does not warn"
for fact in tool command date host kernel cpu_model nvidia_driver cuda_driver libcuda libgdrapi \
	softcuda clock_cost_us gpu_ordinal gpu gpu_uuid gpu_pci gpu_numa_node cpus cpus_chosen \
	running_on_cpu running_on_numa_node backend gdr_driver mapping_type \
	copy_routine_to_mapping copy_routine_from_mapping; do
	said "^# $fact: [^ ]"
done
said '^# backend: dmabuf$'
# The lines without a "# ", in their order.
sed '/^#/d' "$OUT/stdout" | sed -E \
	-e 's/(name: ).*(; Bus)/\1NAME\2/' \
	-e 's/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}$/PCI/' \
	-e 's/(_ptr: |pointer:)0x[0-9a-f]+$/\1ADDR/' \
	-e 's/(device ptr: |info.va: )[0-9a-f]+$/\1HEX/' \
	-e 's/(wc_mapping: )[01]$/\1BIT/' \
	-e 's/BW: [0-9]+(\.[0-9]+)?MB\/s \([0-9]+(\.[0-9]+)? GiB\/s\)$/BW: XMB\/s (Y GiB\/s)/' \
	-e '/^GPU id:[1-9]/d' >"$OUT/lines"
diff -u "$SRC/copybw.out" "$OUT/lines" || fail "the output differs from copybw.out"

# The sweep ends with its top, a power of two or not.
expect 0 "$bw" --soft -l -w 2 -r 2
count '^write BW: ' 18
count '^read BW: ' 18
said '^writing test, size=1 offset=0 num_iters=2$'
said '^reading test, size=131072 offset=0 num_iters=2$'
expect 0 "$bw" --soft -l -c 1 -w 2 -r 2
count '^write BW: ' 1
expect 0 "$bw" --soft -l -s 1000 -w 2 -r 2
count '^write BW: ' 11
said '^writing test, size=1000 '
expect 0 "$bw" --soft --sweep --size 128K --copy-size 64K --write-iters 2 --read-iters 2
count '^write BW: ' 17
said '^rounded size: 131072$'

expect 0 "$bw" --soft --sizes 4,64,1K,1000001 -o 8 -w 3 -r 3 --warmup 5
count '^write BW: ' 4
said '^reading test, size=1000001 offset=8 num_iters=3$'
said '^rounded size: 1048576$'

expect 0 "$bw" --soft -a cuMemCreate -s 0x10000 -c 010 -w 1 -r 1 --no-verify
said '^gpu alloc fn: cuMemCreate$'
said '^testing size: 8$'
said '^rounded size: 65536$'

expect 0 "$bw" --soft --min 1000 --max 5000 --step 2KB -w 2 -r 2
for size in 1000 3000 5000; do said "^writing test, size=$size "; done
count '^write BW: ' 3
expect 0 "$bw" --soft -s 64K --min 4KiB -w 2 -r 2
for size in 4096 8192 16384 32768 65536; do said "^writing test, size=$size "; done
count '^write BW: ' 5

# cuMemcpy beside it, in one table, and where it overtakes.
expect 0 "$bw" --soft --cumemcpy --sizes 64,256K -w 100 -r 20
silent
for test in cuMemcpy_H2D cuMemcpy_D2H cuMemcpy_H2D_pageable cuMemcpy_D2H_pageable \
	gdrx_copy_to_mapping gdrx_copy_from_mapping; do
	count "^$test BW: [0-9.]+MB/s \([0-9.]+ GiB/s\)\$" 2
done
count '^ +bytes +gdr_copy +gdrx_copy +cuMemcpy +pageable +ratio$' 2
count '^ +(64|262144)( +[0-9]+\.[0-9]{2}){4} +[0-9.]+$' 4
count '^cuMemcpy (overtakes|does not overtake|is faster than) (one thread|several threads) (to|from) the mapping' 4
count '^(write|read) BW: ' 4
