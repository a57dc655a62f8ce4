#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_pplat: whatever fails, the kernel ends, everything is released, and the
# exit status is 1 with the reason on stderr.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
pplat="${TOOLS:?}/gdrcopy_pplat --soft -t 20 --warmup 0 -B 2 -s 64"

# fails FUNCTION:NUMBER:RESULT PATTERN [OPTION...]
fails() {
	fault=$1 pattern=$2
	shift 2
	# shellcheck disable=SC2086
	expect 1 env SOFTCUDA_FAIL="$fault" $pplat "$@"
	complained "$pattern"
}

# shimmed MODE OPTION...: with the copies spoilt
shimmed() {
	mode=$1
	shift
	# shellcheck disable=SC2086
	expect 1 env LD_PRELOAD="${PPLAT_SHIM_LIB:?}" PPLAT_SHIM="$mode" $pplat "$@"
}

fails 'cuModuleLoadData:1:218' '^ERROR: cuModuleLoadData: .*\(218\)$'
complained 'compute capability 7.0'
fails 'cuModuleGetFunction:2:500' '^ERROR: cuModuleGetFunction: CUDA_ERROR_NOT_FOUND \(500\)$'
fails 'cuMemHostAlloc:1:2' '^ERROR: cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY \(2\)$'
fails 'cuMemHostGetDevicePointer:1:1' '^ERROR: cuMemHostGetDevicePointer: '
fails 'cuMemAlloc:1:2' 'bytes of device memory with cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY'
fails 'cuMemAlloc:2:2' \
	'^ERROR: [0-9]{3,} bytes of device memory with cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY \(2\)$'
complained '^NOTE: SOFTCUDA_MEMORY sets the memory of the simulated GPU'
fails 'cuMemGetHandleForAddressRange:1:801' '^ERROR: gdr_pin_buffer: '
fails 'cuOccupancyMaxActiveBlocksPerMultiprocessor:1:1' '^ERROR: cuOccupancyMax.*INVALID_VALUE'
fails 'cuMemsetD8:1:700' '^ERROR: cuMemsetD8: '
fails 'cuMemsetD8:2:700' '^ERROR: cuMemsetD8: '
fails 'cuCtxSynchronize:1:700' '^ERROR: cuCtxSynchronize: '
fails 'cuLaunchKernel:1:701' '^ERROR: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES'
fails 'cuStreamQuery:1:700' '^ERROR: the kernel ended before its time: CUDA_ERROR_ILLEGAL_ADDRESS$'
fails 'cuMemcpyDtoH:1:700' '^ERROR: cuMemcpyDtoH: '
fails 'cuMemcpyDtoH:2:700' '^ERROR: cuMemcpyDtoH: ' -m 1
fails 'cuMemFree:1:1' '^ERROR: cuMemFree: CUDA_ERROR_INVALID_VALUE'
fails 'cuMemFree:2:1' '^ERROR: freeing device memory: CUDA_ERROR_INVALID_VALUE'
fails 'cuMemFreeHost:1:1' '^ERROR: cuMemFreeHost: CUDA_ERROR_INVALID_VALUE'
fails 'cuModuleUnload:1:400' '^ERROR: cuModuleUnload: CUDA_ERROR_INVALID_HANDLE'

# Wrong data: who receives them says so, and how many; the report has it, too.
shimmed 'stale 5'
said '^MISMATCH: round 5, word [0-9]+ of 16: 0x[0-9a-f]{8}, should be 0x[0-9a-f]{8}$'
said '^data verified in 20 round trips, warm-up included; mismatches: 2$'
said '^# DATA MISMATCH: 2$'
shimmed 'spoil 7' -m 1
said '^MISMATCH: round 7, word 15 of 16: '
said '; mismatches: 1$'
# What is not verified, is not told.
# shellcheck disable=SC2086
expect 0 env LD_PRELOAD="$PPLAT_SHIM_LIB" PPLAT_SHIM='spoil 7' $pplat -m 1 --no-verify
count 'MISMATCH' 0
shimmed 'fail 4'
complained '^ERROR: gdr_copy_to_mapping: Input/output error \(5\)'
said '^# not complete: cpu_produces with 64 bytes, 1 round trips$'

# A flag that does not come: a time-out tells what, and ends the kernel.
shimmed 'lose 6' -u 3
complained '^ERROR: time-out after 3 s: round 6: block 0 of 2 has not answered; .* in round 5$'
complained '^CUDA_ERROR_NOT_READY$'
complained '^NOTE: 0 of 2 blocks had written the flag that the CPU waited for; the others did not'
said '^Round-trip latency per iteration is'
said '^# not complete: cpu_produces with 64 bytes, 5 round trips$'
said '^closing gdrdrv$'
shimmed 'lose 6' -u 3 -m 1 --verify-every 100
complained '^ERROR: time-out after 3 s: round 6: block 0 of 2 has not produced; .* in round 5$'
said '^# not complete: gpu_produces with 64 bytes, 4 round trips$'
shimmed 'blind 1' -u 3 -C gpumem
complained '^ERROR: time-out after 3 s: block 0 of 2 did not start, or the CPU does not see'
complained '^NOTE: 2 of 2 blocks had written the flag that the CPU waited for'
shimmed 'blind 6' -u 3 -C gpumem -s 0
complained '^ERROR: time-out after 3 s: round 5: block 0 of 1 has not answered'
complained '^NOTE: 1 of 1 blocks had written the flag that the CPU waited for'

# The kernel ends before the CPU sees its last flag.
# shellcheck disable=SC2086
expect 0 env LD_PRELOAD="$PPLAT_SHIM_LIB" PPLAT_SHIM='late 21' $pplat -B 1 -C gpumem
silent

# The CPU stands still: the kernel loses its patience, and ends by itself.
shimmed 'sleep 3' -u 1
complained '^ERROR: the kernel ended before its time: CUDA_SUCCESS$'
complained '^NOTE: 2 of 2 blocks had no flag from the CPU for 3 s and gave up$'

# A kernel that never ends: nothing that it uses is freed, the process ends all the same.
fails 'cuStreamQuery:*:600' '^ERROR: the kernel did not end within 5 s; it ends with this process$'
count '^closing gdrdrv$' 0
exit 0
