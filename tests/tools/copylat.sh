#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_copylat over softcuda: the table's layout, the sweep, its options.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
lat=${TOOLS:?}/gdrcopy_copylat
tab=$(printf '\t')
number=' *[0-9]+\.[0-9]{4}'

expect 0 "$lat" --soft -s 64K -w 100 -r 10
silent
tail -n 1 "$OUT/stdout" | grep -q '^# SOFTCUDA' || fail "the last line does not warn"
sed '/^#/d' "$OUT/stdout" | sed -E \
	-e 's/(name: ).*(; Bus)/\1NAME\2/' \
	-e 's/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}$/PCI/' \
	-e 's/(_ptr|pointer|device ptr): 0x[0-9a-f]+$/\1: ADDR/' \
	-e 's/(info.va: )[0-9a-f]+$/\1HEX/' \
	-e 's/(wc_mapping: )[01]$/\1BIT/' \
	-e "s/$tab $number $tab $number\$/$tab X $tab Y/" \
	-e '/^GPU id:[1-9]/d' >"$OUT/lines"
diff -u "$SRC/copylat.out" "$OUT/lines" || fail "the output differs from copylat.out"
# Column widths, which the above does not see.
said "^gdr_copy_to_mapping $tab {5}4096 $tab [ 0-9]{6}\.[0-9]{4} $tab [ 0-9]{6}\.[0-9]{4}\$"

# Default: 1 byte to 16 MiB; a buffer of one byte is one GPU page.
expect 0 "$lat" --soft -w 1 -r 1
count '^gdr_copy_to_mapping .*[0-9]$' 26
said "^gdr_copy_from_mapping $tab 16777216 $tab"
expect 0 "$lat" --soft -s 1 -w 1 -r 1
count '^gdr_copy_from_mapping .*[0-9]$' 18
# Not a power of two: the top is measured all the same.
expect 0 "$lat" --soft -s 192K -w 1 -r 1
said "^gdr_copy_to_mapping $tab {3}196608 $tab"

expect 0 "$lat" --soft -c --sizes 4,1K -a cuMemCreate -w 10 -r 10
count '^cuMemcpy_H2D .*[0-9]$' 3
count '^cuMemcpy_D2H .*[0-9]$' 3
count '^gdr_copy_to_mapping .*[0-9]$' 3
said "^Test $tab$tab Size\(B\) $tab Median Time\(us\) $tab Min. Time\(us\)\$"
said "^Test $tab$tab$tab Size\(B\) $tab Median Time\(us\) $tab Min. Time\(us\)\$"
said '^gpu alloc fn: cuMemCreate$'
[ "$(grep -n cuMemcpy_D2H "$OUT/stdout" | head -n 1 | cut -d: -f1)" -lt \
	"$(grep -n map_d_ptr "$OUT/stdout" | cut -d: -f1)" ] || fail "cuMemcpy comes first"

expect 0 "$lat" --soft --sizes 4 -w 150 -r 101
complained '^WARNING: write iterations raised from 150 to 200, a multiple of 100$'
complained '^WARNING: read iterations raised from 101 to 200, a multiple of 100$'
said '^gdr_copy_to_mapping num iters for each size: 200$'
expect 0 "$lat" --soft --sizes 4 -w 99 -r 200
silent

# -c tells where cuMemcpy overtakes, or that it does not.
expect 0 "$lat" --soft -c --sizes 4,1M -w 10 -r 10
count '^gdrx_copy_to_mapping .*[0-9]$' 3
count '^gdrx_copy_from_mapping .*[0-9]$' 3
count '^cuMemcpy (overtakes|does not overtake|is faster than) (one thread|several threads) (to|from) the mapping' 4
count '^cuMemcpy_(H2D|D2H)_pageable .*[0-9]$' 6
count '^ +bytes +gdr_copy +gdrx_copy +cuMemcpy +pageable +ratio$' 2
count '^ +(4|1048576)( +[0-9]+\.[0-9]{4}){4} +[0-9.]+$' 4
expect 0 "$lat" --soft --sizes 4 -w 10 -r 10
count '^(gdrx_copy|cuMemcpy)' 0
