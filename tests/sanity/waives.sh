#!/bin/sh
# SPDX-License-Identifier: MIT
# What a platform lacks is waived with the reason, what is broken fails with it.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
sanity=${SANITY:?}

# No VMM memory that can be shared: every such test is waived, not failed.
expect 0 env SOFTCUDA_ATTRS=110=0 "$sanity" --soft -t '*_vmmalloc'
said '^Total: [0-9]+, Passed: 0, Failed: 0, '
said '^    basic_vmmalloc \(this GPU cannot share cuMemCreate memory \(device attribute 110 is 0\)\)$'

# One process at a time.
expect 0 env SOFTCUDA_ATTRS=20=3 "$sanity" --soft
said "^    invalidation_fork_map_and_free_cumemalloc \\(the GPU's compute mode is not DEFAULT"
said '^    invalidation_fork_access_after_free_vmmalloc \('
said '^    basic_cumemalloc$'

# GPUDirect RDMA is a matter of gdrdrv alone.
expect 0 env SOFTCUDA_ATTRS=116=0 "$sanity" --soft -t basic_cumemalloc
said 'Passed: 1'

# A coherent platform whose GPU is too old to force PCIe.
expect 0 env SOFTCUDA_COHERENT=1 SOFTCUDA_ATTRS=75=9 "$sanity" --soft -t '*forcepci*'
said '^    basic_v2_forcepci_vmmalloc \(GPUs before compute capability 10 cannot force PCIe\)$'

# GPUs by ordinal, UUID and PCI address; one that is not there is told once, and nothing runs.
for gpu in 1 5cda:02:00.0 GPU-736f6674-6375-6461-2064-657669636501; do
	expect 0 env SOFTCUDA_DEVICES=2 "$sanity" --soft -v -d $gpu -t basic_cumemalloc
	complained '^# gpu: 1: softcuda'
	complained '^# gpu_pci: 5cda:02:00.0$'
done
for gpu in 5 5cda:09:00.0 99999999999; do
	expect 1 "$sanity" --soft -d $gpu
	[ "$(wc -l <"$OUT/stderr")" -eq 2 ] || fail "-d $gpu: not two lines"
	complained "^ERROR: GPU $gpu: there is 1 GPU, number 0\$"
	complained 'status=1$'
	[ ! -s "$OUT/stdout" ] || fail "something ran"
done
# No driver, no backend, no CUDA: each test that needs it fails and says so.
expect 1 env SOFTCUDA_FAIL='cuInit:*:100' "$sanity" --soft -t basic_cumemalloc
complained '^CUDA error: CUDA_ERROR_NO_DEVICE$'
expect 1 env GDRCOPY_SOFTCUDA_LIB=/nonexistent "$sanity" --soft -t basic_cumemalloc
complained 'GDRCOPY_SOFTCUDA_LIB=/nonexistent'
expect 1 env SOFTCUDA_DRIVER_VERSION=12000 "$sanity" --soft -t attributes_sanity
complained '^gdr_open failed; is the gdrdrv module loaded'
said 'attributes_sanity \(.*gdr_open.*13\.3'
expect 1 env SOFTCUDA_FAIL='cuMemGetHandleForAddressRange:*:801' "$sanity" --soft -t basic_cumemalloc
said 'basic_cumemalloc \(.*gdr_pin_buffer.*returned EOPNOTSUPP \(95\), not 0: '
