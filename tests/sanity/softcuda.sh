#!/bin/sh
# SPDX-License-Identifier: MIT
# The suite on softcuda: nothing fails, and only what is named here is waived.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
sanity=${SANITY:?}

# waived PATTERN: all waived tests, as one extended regular expression for the whole name.
waived() {
	sed '1,/^List of waived tests:/d;/^$/,$d' "$OUT/stdout" | sed 's/^    //;s/ .*//' >"$OUT/waived"
	grep -Evx "$1" "$OUT/waived" >"$OUT/unexpected"
	[ ! -s "$OUT/unexpected" ] || fail "waived: $(cat "$OUT/unexpected")"
}
descriptors='invalidation_unix_sock_shared_fd_gdr_(map|pin_buffer)_(cu|vm)m(em)?alloc'
# What watches single instructions cannot do so under ThreadSanitizer.
stepping=copy_fences
grep -q __tsan_init "$sanity" && stepping='copy_fences|copy_stores_once'
coherent='basic_v2_forcepci_.*|data_validation_v2_forcepci_.*|data_validation_mix_mappings_.*'

# The classic 28.
set --
while read -r name; do
	set -- "$@" -t "$name"
done <"$SRC/classic.txt"
expect 0 "$sanity" --soft "$@"
said '^Total: 28, Passed: 24, Failed: 0, Waived: 4$'
waived "$descriptors"

# What runs by default.
expect 0 "$sanity" --soft
silent
said '^Total: 36, Passed: 28, Failed: 0, Waived: 8$'
waived "$descriptors|$coherent"
tail -n 1 "$OUT/stdout" | grep -q '^# SOFTCUDA: NO GPU IS USED' || fail "it does not say softcuda"

# Everything; on a machine that can, overlapping pins work too.
expect 0 "$sanity" --soft --all
said '^Total: [0-9]+, Passed: [0-9]+, Failed: 0, Waived: [0-9]+$'
grep -q __tsan_init "$sanity" && coherent="$coherent|$stepping"
waived "$descriptors|$coherent|several_gpus_.*|overlapping_pins_(cumem|vmm)alloc"

# Coherent, with two GPUs.
expect 0 env SOFTCUDA_COHERENT=1 SOFTCUDA_DEVICES=2 "$sanity" --soft --all -d 1
waived "$descriptors|$stepping|overlapping_pins_(cumem|vmm)alloc"

# with_routine NAME TEST...: with this copy routine, and what the library says of it.
with_routine() {
	routine=$1
	shift
	expect 0 env GDRCOPY_COPY="$routine" GDRCOPY_ENABLE_LOGGING=1 GDRCOPY_LOG_LEVEL=3 \
		"$sanity" --soft -v "$@"
}

# Each copy routine that this processor has.  Asked for another, the library names all.
with_routine nonsense -t basic_cumemalloc
routines=$(sed -n 's/.*no copy routine "nonsense"; valid are: //p' "$OUT/stderr" |
	head -n 1 | tr -d ,)
[ "${routines%generic}" != "$routines" ] || fail "generic is not the last of: $routines"
for routine in $routines; do
	with_routine "$routine" -t data_validation_cumemalloc -t 'copy_*'
	grep -q "this processor cannot run \"$routine\"" "$OUT/stderr" ||
		complained "^# copy_routine_(to|from)_mapping: $routine\$"
done

# Any order, several times; without the tests of data, which take longest.
expect 0 "$sanity" --soft -t '[!d]*' --shuffle --repeat 3
