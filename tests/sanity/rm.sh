#!/bin/sh
# SPDX-License-Identifier: MIT
# The suite on the rm backend, with a model of NVIDIA's driver below it that
# notices stale windows.  The model is per process, so no descriptor can be passed.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
sanity=${ON_FAKE_RM:?}

set --
while read -r name; do
	case $name in
	*unix_sock*) ;;
	*) set -- "$@" -t "$name" ;;
	esac
done <"$SRC/classic.txt"
expect 0 env SOFTCUDA_DEVICES=2 "$sanity" --soft "$@"
said '^Total: 24, Passed: 24, Failed: 0, Waived: 0$'

set --
"$sanity" -l | sed -n 's/^    //p' | grep -Ev 'unix_sock|_allowed' >"$OUT/all"
while read -r name; do
	set -- "$@" -t "$name"
done <"$OUT/all"
expect 0 env SOFTCUDA_DEVICES=2 "$sanity" --soft -v "$@"
complained '^# backend: rm$'
sed '1,/^List of waived tests:/d;/^$/,$d' "$OUT/stdout" | sed 's/^    //;s/ .*//' |
	grep -v 'forcepci\|mix_mappings\|copy_fences\|copy_stores_once' && fail "more is waived than needs a coherent platform"
# Also where the last step of the driver is another.
expect 0 env SOFTCUDA_DEVICES=2 SOFTCUDA_COHERENT=1 "$sanity" --soft -t 'data_*' -t 'map_*'

# What a second process asks of the driver: were it granted, the tests would fail.
for t in model_map_allowed model_pin_allowed_cumemalloc model_pin_allowed_vmmalloc; do
	expect 1 "$sanity" --soft -t $t
	complained 'the driver refuses a second process'
	complained ': map request .*: RM status 0x0, not 0x23 or 0x1b$'
done
