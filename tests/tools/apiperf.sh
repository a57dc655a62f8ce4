#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_apiperf over softcuda: its output, what its options do, its forms, and how it ends.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
api=${TOOLS:?}/gdrcopy_apiperf
tab=$(printf '\t')

# Golden text; figures are X, and how many calls fell into a bin is C.
expect 0 "$api" --soft -s 100000 -n 20 -w 2 --fresh 2 --buffers 20 --no-affinity
silent
tail -n 1 "$OUT/stdout" | grep -q '^# SOFTCUDA' || fail "the last line does not warn"
sed '/^#/d; /^GPU id:[1-9]/d' "$OUT/stdout" | sed -E \
	-e 's/(name: ).*(; Bus)/\1NAME\2/' \
	-e 's/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}$/PCI/' \
	-e 's/(device ptr): 0x[0-9a-f]+$/\1: ADDR/' \
	-e 's/ +[0-9]+\.[0-9]{1,3}\b/ X/g' \
	-e 's/[0-9]+\.[0-9]{6}\b/X/g' \
	-e "s/\]${tab}[0-9]+\$/]${tab}C/" >"$OUT/lines"
diff -u "$SRC/apiperf.out" "$OUT/lines" || fail "the output differs from apiperf.out"
# Column widths, which the above does not see.
said "^131072(${tab}[0-9]+\.[0-9]{6}){5}\$"
said '^gdr_map_v2 {22}10-11 {7}2 [ 0-9]{6}\.[0-9]{3} [ 0-9]{6}\.[0-9]{3} '
said '^\| gdr_open               \|             \| [ 0-9]{8}\.[0-9] \| [ 0-9]{7}\.[0-9]{2} \| '

# The classic call: nine sizes, a histogram of 100 pins each.
expect 0 "$api" --soft
silent
time='Time\(us\)'
count "^Size\(B\)${tab}pin.$time${tab}map.$time${tab}get_info.$time${tab}unmap.$time${tab}unpin.$time\$" 9
count '^gdr_pin_buffer of [0-9]+ bytes: microseconds' 9
count "^\[[0-9.]+${tab}-${tab}[0-9.]+\]${tab}[0-9]+\$" 90
said "^16777216${tab}"
awk -F "${tab}" '/^\[/ { n += $4; edges++; if (from && $1 != from) bad = 1
	from = edges % 10 ? "[" substr($3, 1, length($3) - 1) : "" }
	edges % 10 == 0 && /^\[/ { if (n != 100) bad = 1; n = 0 }
	END { exit bad || edges != 90 }' "$OUT/stdout" ||
	fail "a histogram does not count 100 calls by the edges that it prints"

# CSV and JSON against the single times.
for form in csv json; do
	expect 0 "$api" --soft --$form --samples "$OUT/samples" --sizes 64K,192K -n 25 -w 3 \
		--buffers 37 --threads 4 --first 2 --fresh 3
	silent
	python3 "$SRC/apiperf.py" $form "$OUT/samples" 65536,196608 25 37 4 <"$OUT/stdout" \
		>"$OUT/python" 2>&1 || fail "$(cat "$OUT/python")"
done

# Sizes are whole GPU pages, each once; -s is the buffer.
expect 0 "$api" --soft --sizes 1,64K,65537 -n 1 --fresh 0
count "^65536${tab}" 1
count "^131072${tab}" 1
said '^allocated size: 131072$'
expect 0 "$api" --soft --sizes 64K -s 1M -n 1 --fresh 0
said '^allocated size: 1048576$'
count '^gdr_close .* 1 ' 2
expect 0 "$api" --soft -a cuMemCreate -s 192K -n 1
said '^gpu alloc fn: cuMemCreate$'
said "^196608${tab}"

# Histograms: of all calls, with other bins, none.
expect 0 "$api" --soft --sizes 64K --histogram all --bins 3 --log -n 30
count '^gdr_[a-z_0-9]+ of 65536 bytes: microseconds, and how many of 30 calls ' 8
count '^\[' 24
expect 0 "$api" --soft --sizes 64K --histogram none
count '^\[' 0

# --min-time goes on beyond -n, --max-time ends before; --repeat adds rounds.
expect 0 "$api" --soft --sizes 64K -n 1 --min-time 500
said '^gdr_map_v2 +0 +([2-9]|[0-9]{2,}) '
expect 0 "$api" --soft --sizes 64K -n 10000000 -w 1000000000 --max-time 1 --fresh 0
said '^# 65536 bytes: [0-9]+ of 10000000 cycles in the time of --max-time$'
expect 0 "$api" --soft --sizes 64K -n 30 --repeat 3
said '^gdr_map_v2 +0 +90 .* rounds [0-9.]+ % apart$'

# The largest that fits: half of the memory is refused with one failure, and taken without.
SOFTCUDA_MEMORY=256M
export SOFTCUDA_MEMORY
expect 0 "$api" --soft --fit -n 2
said '^allocated size: 134217728$'
count "^134217728${tab}" 1
expect 0 env SOFTCUDA_FAIL='cuMemAlloc:2:2' "$api" --soft --fit -n 2 --fresh 0
said '^# 134217728 bytes do not fit: no device memory$'
count "^67108864${tab}" 1
count "^134217728${tab}" 0
expect 0 env SOFTCUDA_FAIL='cuMemGetHandleForAddressRange:3:2' "$api" --soft --fit -n 2 --fresh 0
said '^# 134217728 bytes do not fit: gdr_pin_buffer: .+'
count "^67108864${tab}" 1
expect 0 "$api" --soft --fit -n 2 --fresh 0 --json
count '"buffer_bytes": 134217728\b' 1
unset SOFTCUDA_MEMORY

# Threads on one context, on their own, and both.
expect 0 "$api" --soft --sizes 64K --fresh 0 -n 10 --threads 3
count '^[0-9]+ threads? on one gdr_t, a buffer of 65536 bytes each: [0-9]+ cycles/s$' 3
count '^[23] threads on a gdr_t each' 2
expect 0 "$api" --soft --sizes 64K --fresh 0 -n 10 --threads 2 --handles own --separate \
	--buffer-size 1M -a cuMemCreate
count ' on one gdr_t' 0
count '^[12] threads? on a gdr_t each, a buffer of 1048576 bytes each' 2
expect 0 "$api" --soft --sizes 64K --fresh 0 -n 10 --threads 2 --handles one
count ' on a gdr_t each' 0

# Many buffers, more than descriptors are allowed at first; and too many.
expect 0 sh -c 'ulimit -S -n 64; exec "$@"' sh "$api" --soft --sizes 64K -n 1 --buffers 300
said '^300 buffers of 65536 bytes pinned and mapped at once, of one allocation$'
said '^gdr_unpin_buffer +270-299 +30 '
expect 0 "$api" --soft --sizes 64K -n 1 --buffers 50 --separate
said '^50 buffers of 65536 bytes pinned and mapped at once, an allocation each$'
expect 1 sh -c 'ulimit -n 64; exec "$@"' sh "$api" --soft --sizes 64K -n 1 --buffers 300
complained '^NOTE: [0-9]+ of 300 buffers were pinned and mapped; what limits them'
said '^closing gdrdrv$'

# Several GPUs, each with its rows and its table.
expect 0 env SOFTCUDA_DEVICES=2 "$api" --soft -d all --sizes 64K -n 2 --csv --first 2
count '^1,first,gdr_open,' 1
expect 0 env SOFTCUDA_DEVICES=2 "$api" --soft -d 1,0 --sizes 64K -n 2
count '^\| gdr_open ' 2

# The processes of --first end well also where the caller ignores SIGCHLD.
expect 0 python3 "$SRC/no_sigchld.py" "$api" --soft --sizes 64K -n 2 --fresh 0 --first 3
silent
said '^gdr_open .* 3 '

# Against an earlier run: the same is no worse, a tenth of it is.
expect 0 "$api" --soft --sizes 64K -n 30 --json
sed -E 's/("(median|baseline)_us": )[0-9.e-]+/\199999/' "$OUT/stdout" >"$OUT/slow.json"
sed -E 's/("(median|baseline)_us": )[0-9.e-]+/\10.000001/' "$OUT/stdout" >"$OUT/fast.json"
expect 0 "$api" --soft --sizes 64K -n 30 --baseline "$OUT/slow.json"
expect 3 "$api" --soft --sizes 64K -n 30 --baseline "$OUT/fast.json"
