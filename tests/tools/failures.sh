#!/bin/sh
# SPDX-License-Identifier: MIT
# Each CUDA call that a tool makes fails once: exit status 1, the call or its
# purpose named on stderr, nothing left behind (which a sanitizer build sees).
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

lat="${TOOLS:?}/gdrcopy_copylat --soft --sizes 64 -w 2 -r 2 -c"
# fails FUNCTION:NUMBER:RESULT PATTERN COMMAND...
fails() {
	fault=$1 pattern=$2
	shift 2
	expect 1 env SOFTCUDA_FAIL="$fault" "$@"
	complained "$pattern"
}

# shellcheck disable=SC2086
{
	fails 'cuInit:*:100' '^ERROR: cuInit: CUDA_ERROR_NO_DEVICE \(100\)$' $lat
	for call in cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDevicePrimaryCtxRetain \
		cuCtxSetCurrent; do
		fails "$call:1:999" "^ERROR: .*$call: CUDA_ERROR_UNKNOWN \(999\)$" $lat
	done
	fails 'cuMemAlloc:1:2' 'bytes of device memory with cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY' $lat
	complained '^NOTE: SOFTCUDA_MEMORY'
	fails 'cuPointerSetAttribute:1:1' 'device memory with cuMemAlloc: CUDA_ERROR_INVALID_VALUE' $lat
	for call in cuMemGetAllocationGranularity cuMemAddressReserve cuMemCreate cuMemMap \
		cuMemSetAccess; do
		fails "$call:1:2" 'device memory with cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY' \
			$lat -a cuMemCreate
	done
	fails 'cuMemcpy:1:700' '^ERROR: cuMemcpy_H2D of 64 bytes failed' $lat
	fails 'cuMemsetD8:1:700' '^ERROR: cuMemsetD8: CUDA_ERROR_ILLEGAL_ADDRESS' $lat
	fails 'cuMemcpyDtoH:1:700' '^ERROR: cuMemcpyDtoH: CUDA_ERROR_ILLEGAL_ADDRESS' $lat
	fails 'cuMemcpyHtoD:1:700' '^ERROR: cuMemcpyHtoD: CUDA_ERROR_ILLEGAL_ADDRESS' $lat
	fails 'cuCtxSynchronize:1:700' '^ERROR: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS' $lat
	fails 'cuMemGetHandleForAddressRange:1:801' '^ERROR: gdr_pin_buffer: .*: .+' $lat
	fails 'cuMemFree:1:1' '^ERROR: freeing device memory: CUDA_ERROR_INVALID_VALUE' $lat
	for call in cuMemUnmap cuMemRelease cuMemAddressFree; do
		fails "$call:1:1" '^ERROR: freeing device memory: CUDA_ERROR_INVALID_VALUE' \
			$lat -a cuMemCreate
	done

	# Without page-locked memory it goes on, and says so.
	expect 0 env SOFTCUDA_FAIL='cuMemAllocHost:*:2' $lat
	complained '^NOTE: 65536 bytes of host memory are not page-locked: cuMemAllocHost: CUDA_ERR'

	# No backend takes the device: what each of them said.
	expect 1 env SOFTCUDA_DRIVER_VERSION=12000 $lat
	complained '^ERROR: gdr_open: '
	complained '^dmabuf: .*13\.3'

	# A GPU without GPUDirect RDMA is tried all the same.
	expect 0 env SOFTCUDA_ATTRS=116=0 $lat
	complained '^WARNING: GPU 0 does not support GPUDirect RDMA'
	# VMM memory that cannot be pinned is not allocated.
	expect 1 env SOFTCUDA_ATTRS=110=0 $lat -a cuMemCreate
	complained 'device memory with cuMemCreate: CUDA_ERROR_NOT_SUPPORTED \(801\)$'

	# A mapping type that the platform does not have.
	expect 1 $lat -M device
	complained '^ERROR: gdr_map_v2: .*: .+'

	# Cold cache: only on caching mappings, and there it works.
	expect 1 $lat -C
	complained '^ERROR: a cold cache \(-C\) needs a caching mapping'
	said '^use cold cache: yes$'
	said '^closing gdrdrv$'
	expect 0 env SOFTCUDA_COHERENT=1 $lat -C
	said '^use cold cache: yes$'
	said '^gdr_copy_to_mapping .* 64 '
}

# A report that cannot be written is no success.
if [ -w /dev/full ]; then
	for form in '' --csv; do
		# shellcheck disable=SC2016,SC2086
		expect 1 sh -c '"$@" >/dev/full' sh "$TOOLS/gdrcopy_copybw" --soft -w 1 -r 1 $form
		complained '^ERROR: the report could not be written: '
	done
fi
