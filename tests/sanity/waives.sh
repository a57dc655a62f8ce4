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

# No such GPU, no driver, no backend, no CUDA: each test that needs it fails and says so.
expect 1 "$sanity" --soft -d 5 -t basic_cumemalloc
complained '^CUDA error: CUDA_ERROR_INVALID_DEVICE$'
said 'basic_cumemalloc \(.*CUDA_ERROR_INVALID_DEVICE \(101\)\)$'
expect 1 env SOFTCUDA_FAIL='cuInit:*:100' "$sanity" --soft -t basic_cumemalloc
complained '^CUDA error: CUDA_ERROR_NO_DEVICE$'
expect 1 env GDRCOPY_SOFTCUDA_LIB=/nonexistent "$sanity" --soft -t basic_cumemalloc
complained 'GDRCOPY_SOFTCUDA_LIB=/nonexistent'
expect 1 env SOFTCUDA_DRIVER_VERSION=12000 "$sanity" --soft -t attributes_sanity
complained '^gdr_open failed; is the gdrdrv module loaded'
said 'attributes_sanity \(.*gdr_open.*13\.3'
expect 1 env SOFTCUDA_FAIL='cuMemGetHandleForAddressRange:*:801' "$sanity" --soft -t basic_cumemalloc
said 'basic_cumemalloc \(.*gdr_pin_buffer.*returned EOPNOTSUPP \(95\), not 0: '
