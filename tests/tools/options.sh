#!/bin/sh
# SPDX-License-Identifier: MIT
# Command lines: help against its golden text and the man page, and what is refused.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

for t in copybw copylat; do
	tool=${TOOLS:?}/gdrcopy_$t
	documented "$tool" $t 10

	expect 1 "$tool" -Z
	complained "invalid option -- 'Z'"
	complained '^ERROR: invalid option'
	expect 1 "$tool" --nonsense
	complained '^ERROR: invalid option'
	expect 1 "$tool" -w
	complained "requires an argument"
	expect 1 "$tool" stray
	complained '^ERROR: unexpected argument "stray"'

	for bad in x -1 +1 ' 1' '' 1x 1K 0x 08 0 1000000000001 99999999999999999999999; do
		expect 1 "$tool" -w "$bad"
		complained '^ERROR: option -w, --write-iters: '
		expect 1 "$tool" -r "$bad"
		complained '^ERROR: option -r, --read-iters: '
	done
	for bad in x -4 1T 4KK 1.5M 0 2048G 17179869184G; do
		expect 1 "$tool" --size="$bad"
		complained '^ERROR: option -s, --size: '
		expect 1 "$tool" --sizes "4,$bad"
		complained '^ERROR: option --sizes: '
	done
	for bad in '' ',' '4,' ',4' '4,,8'; do
		expect 1 "$tool" --sizes "$bad"
		complained '^ERROR: option --sizes: '
	done
	# 64 sizes fit, 65 do not.
	expect 1 "$tool" --sizes "$(seq -s, 65)"
	complained 'has too many sizes'
	expect 1 "$tool" -d -1
	complained '^ERROR: option -d, --device: '
	expect 1 "$tool" -a cumemalloc
	complained '^ERROR: option -a, --alloc: "cumemalloc" is not one of cuMemAlloc, cuMemCreate$'
	expect 1 "$tool" -M uc
	complained '^ERROR: option -M, --mapping: "uc" is not one of default, wc, cache, device$'
	expect 1 "$tool" --csv --json
	complained 'exclude each other'
done

bw=$TOOLS/gdrcopy_copybw
expect 1 "$bw" -o 2
complained '^ERROR: offset 2 is not a multiple of 4$'
expect 1 "$bw" -s 1000 -c 1001
complained '^ERROR: offset 0 \+ copy size 1001 do not fit the buffer of 1000 bytes'
expect 1 "$bw" -s 1000 -o 4 -c 997
complained '^ERROR: offset 4 \+ copy size 997 do not fit'
expect 1 "$bw" -s 1000 -o 4
complained 'do not fit'
expect 1 "$bw" -s 64K --sizes 4,128K
complained 'copy size 131072 do not fit the buffer of 65536 bytes'
expect 1 "$bw" --sizes 4 -l
complained 'exclude -l and -c'
expect 1 "$bw" --sizes 4 -c 4
complained 'exclude -l and -c'
expect 1 "$TOOLS/gdrcopy_copylat" -s 64K --sizes 65537
complained 'copy size 65537 does not fit the buffer of 65536 bytes'

# What all benchmarks share.
for t in copybw copylat; do
	tool=${TOOLS:?}/gdrcopy_$t
	for bad in x 0 x1 x0 xK 4KK -4K 'x 2'; do
		expect 1 "$tool" --max 64K --step "$bad"
		complained '^ERROR: option --step: '
	done
	expect 1 "$tool" --min 64K --max 4K
	complained '^ERROR: --min 65536 is larger than the largest size, 4096$'
	expect 1 "$tool" --sizes 4 --max 8
	complained '^ERROR: --sizes excludes --min, --max and --step$'
	expect 1 "$tool" --max 1M --step 1
	complained 'more than 256 sizes'
	for bad in '' '0,' ,0 0,,1 x GPU- GPU-xyz 00:zz 1.5 all,0; do
		expect 1 "$tool" --device "$bad"
		complained '^ERROR: option -d, --device: '
	done
	for bad in '' x -1 1e999 nan inf 0x10 10001; do
		expect 1 "$tool" --tolerance "$bad"
		complained '^ERROR: option --tolerance: '
	done
	for bad in plot plot.pdf svg .png.gz; do
		expect 1 "$tool" --plot "$bad"
		complained '^ERROR: option --plot: ".*" ends neither with .svg nor with .png$'
	done
	expect 1 "$tool" --per-call -w 10000001
	complained '^ERROR: --per-call keeps the time of each call: at most 10000000 of a size'
	expect 1 "$tool" --per-call --repeat 1000 -r 10001
	complained '^ERROR: --per-call keeps'
	expect 1 "$tool" --repeat 0
	complained '^ERROR: option --repeat: '
	expect 1 "$tool" --completion fish
	complained '^ERROR: no completion for "fish"; bash and zsh have one$'
	expect 1 "$tool" --output /nonexistent/report
	complained '^ERROR: /nonexistent/report: No such file or directory$'
	[ ! -s "$OUT/stdout" ] || fail "something was printed"
done
expect 1 "$TOOLS/gdrcopy_copylat" -C --per-call
complained '^ERROR: -C and --per-call exclude each other'
for other in --cumemcpy --per-call; do
	expect 1 "$TOOLS/gdrcopy_copybw" --threads 2 $other
	complained "^ERROR: $other excludes --threads and --bidirectional\$"
	expect 1 "$TOOLS/gdrcopy_copybw" --bidirectional $other
	complained "^ERROR: $other excludes --threads and --bidirectional\$"
done
for bad in 0 257 x; do
	expect 1 "$TOOLS/gdrcopy_copybw" --threads $bad
	complained '^ERROR: option --threads: '
done
