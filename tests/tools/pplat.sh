#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_pplat over softcuda: its lines, both modes, all places, several blocks.  Few round
# trips: where many programs want the CPUs each takes as long as ten time slices.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
pplat="${TOOLS:?}/gdrcopy_pplat --soft"

# column FIELD: the values of a column of the CSV on stdout, one a line.
column() {
	sed '/^#/d' "$OUT/stdout" | awk -F, -v name="$1" \
		'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 { print $c }'
}

# All rows of the CSV: complete, no mismatch, as many data verified as there should be.
fine() {
	[ "$(column complete | sort -u)" = true ] || fail "not complete"
	[ "$(column mismatches | sort -u)" = 0 ] || fail "mismatches"
	[ "$(column verified | sort -un | tr '\n' ' ')" = "$1 " ] || fail "not verified $1"
	[ "$(column samples | sort -u)" = "$2" ] || fail "not $2 samples"
}

# shellcheck disable=SC2086
{
	expect 0 $pplat -m both --sizes 0,64 -t 50
	silent
	tail -n 1 "$OUT/stdout" | grep -q '^# SOFTCUDA' || fail "the last line does not warn"
	sed '/^#/d' "$OUT/stdout" | sed -E \
		-e 's/(name: ).*(; Bus)/\1NAME\2/' -e 's/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}$/PCI/' \
		-e 's/(\(min\)|\(median\)|P0|P50|P90|P99|max|mean|\+-) [0-9.e+-]+/\1 X/g' \
		-e 's/ [0-9.e+-]+ us/ X us/g' >"$OUT/lines"
	diff -u "$SRC/pplat.out" "$OUT/lines" || fail "the output differs from pplat.out"

	# Each place of each object, both modes, blocks with and without a share of their own.
	for g in gpumem hostmem; do
		for c in gpumem hostmem; do
			for d in gpumem hostmem; do
				expect 0 $pplat --csv -m both --sizes 4,68,4100 -B 1,3 -t 15 --warmup 7 \
					-G $g -C $c -D $d
				silent
				fine 22 15
				count '^0,' 12
				count ",$g,$c,$d," 12
			done
		done
	done
	expect 0 $pplat --csv -m both -t 40 -G hostmem -C gpumem
	fine 0 40
	count ',1,1,1 block of 1 thread,hostmem,gpumem,none,' 2

	# All the sizes that the figures are published for.
	expect 0 $pplat --csv -m both --min 64 --max 64K -B 1,8 -t 10 --warmup 0 -a cuMemCreate
	fine 10 10
	count '^0,' 44

	# More blocks than flags in a look, more than words; as many as run at once.
	expect 0 $pplat --csv -m both -s 8 -B 30 -T 1024 -C gpumem -t 10
	fine 110 10
	expect 0 $pplat --csv -m both -s 1K -B 32 -T 1024 -t 10
	fine 110 10
	expect 1 $pplat -s 1K -B 33 -T 1024 -t 10
	complained '^ERROR: this GPU runs 32 blocks of 1024 threads at a time; of 33 \(option -B\)'
	count '^Round-trip' 0
	said '^closing gdrdrv$'
	expect 1 env SOFTCUDA_ATTRS=16=1 $pplat -s 1K -B 3 -T 1024 -t 10
	complained '^ERROR: this GPU runs 2 blocks of 1024 threads at a time; of 3 '
	expect 0 env SOFTCUDA_ATTRS=16=1 $pplat -s 1K -B 3 -T 512 -t 10
	# Without data there is one block, whatever is asked for.
	expect 0 env SOFTCUDA_ATTRS=16=1 $pplat -B 3 -t 10
	said '^iterations: 10 .*; blocks: 1; threads a block: 1$'

	expect 0 $pplat --csv -m both -s 256 -t 40 --warmup 0 --verify-every 7
	fine 5 40
	expect 0 $pplat --csv -m both -s 256 -t 40 --no-verify
	fine 0 40
	# The iterations are what was asked for, and more only for the time.
	expect 0 $pplat --csv -t 151 --repeat 3
	silent
	fine 0 453
	expect 0 $pplat -t 151 --repeat 3
	said '^medians of 3 kernels: the slowest is [0-9.]+ % above the fastest$'
	expect 0 $pplat --csv -t 2 --min-time 300
	[ "$(column samples)" -gt 2 ] || [ "$(column mean_us | cut -d. -f1)" -ge 150000 ] ||
		fail "no more samples for --min-time"
	# Without warm-up every round trip is a sample.
	expect 0 $pplat --csv -t 3 --warmup 0 -m both
	fine 0 3
	# Two GPUs in one run, the second one's rows marked.
	expect 0 env SOFTCUDA_DEVICES=2 $pplat --csv -t 3 -d 0,1
	count '^1,cpu_produces,' 1
}
exit 0
