#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_apiperf where a call fails, data are wrong or a signal comes: the exit status, what
# is said, and that nothing stays open, pinned or mapped.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
api=${TOOLS:?}/gdrcopy_apiperf
small="$api --soft --sizes 64K -n 1 -w 1 --fresh 1 --buffers 2"

# left FUNCTION: what may be left after it failed, because it is what would have let go.
left() {
	case $1 in
	gdr_close) echo '1 contexts, 0 pins, 0 maps' ;;
	gdr_unpin_buffer) echo '0 contexts, 1 pins, 0 maps' ;;
	gdr_unmap) echo '0 contexts, 0 pins, 1 maps' ;;
	*) echo '0 contexts, 0 pins, 0 maps' ;;
	esac
}

# Each control call fails once, at its first, second, ... use, until there is no such use.
for call in gdr_open gdr_get_attribute gdr_driver_get_version gdr_pin_buffer gdr_pin_buffer_v2 \
	gdr_map_v2 gdr_get_info gdr_get_info_v2 gdr_get_callback_flag gdr_unmap gdr_unpin_buffer \
	gdr_close; do
	n=1
	while :; do
		# shellcheck disable=SC2086
		env LD_PRELOAD="${APIPERF_SHIM:?}" APIPERF_FAIL=$call:$n $small \
			>"$OUT/stdout" 2>"$OUT/stderr"
		got=$?
		[ $got -eq 0 ] && break
		[ $got -eq 1 ] || fail "$call:$n: exit status $got"
		complained "^ERROR: $call: Input/output error \(5\)"
		complained "^balance: $(left $call)\$"
		n=$((n + 1))
	done
	[ $n -gt 2 ] || fail "$call was used $((n - 1)) times"
	complained '^balance: 0 contexts, 0 pins, 0 maps$'
done
# In one of several threads, on a common context and on their own.
for how in one own; do
	for call in gdr_pin_buffer:40 gdr_map_v2:40 gdr_get_info_v2:40 gdr_pin_buffer_v2:40; do
		expect 1 env LD_PRELOAD="$APIPERF_SHIM" APIPERF_FAIL=$call "$api" --soft \
			--sizes 64K -n 2 -w 3 --fresh 0 --threads 4 --handles $how
		complained "^ERROR: ${call%:*}: Input/output error \(5\)"
		complained '^balance: 0 contexts, 0 pins, 0 maps$'
	done
done

# fails FAULT PATTERN OPTION...: a call of CUDA fails.
fails() {
	fault=$1 pattern=$2
	shift 2
	expect 1 env SOFTCUDA_FAIL="$fault" LD_PRELOAD="$APIPERF_SHIM" "$api" --soft --sizes 64K \
		-n 2 --fresh 1 "$@"
	complained "$pattern"
	complained '^balance: 0 contexts, 0 pins, 0 maps$'
}
fails 'cuInit:*:100' '^ERROR: cuInit: CUDA_ERROR_NO_DEVICE \(100\)$'
fails 'cuMemAlloc:1:2' '^ERROR: 65536 bytes of device memory with cuMemAlloc: CUDA_ERROR_OUT_OF'
complained '^NOTE: SOFTCUDA_MEMORY sets the memory'
fails 'cuMemCreate:1:2' '^ERROR: 65536 bytes of device memory with cuMemCreate: ' -a cuMemCreate
fails 'cuMemGetHandleForAddressRange:1:801' '^ERROR: gdr_pin_buffer: .+: .+'
fails 'cuMemGetHandleForAddressRange:9:801' '^ERROR: gdr_pin_buffer(_v2)?: .+: .+'
fails 'cuMemcpyDtoH:1:700' '^ERROR: cuMemcpyDtoH: CUDA_ERROR_ILLEGAL_ADDRESS'
fails 'cuMemcpyDtoH:4:700' '^ERROR: cuMemcpyDtoH: CUDA_ERROR_ILLEGAL_ADDRESS' --buffers 3
fails 'cuMemFree:1:1' '^ERROR: freeing device memory: CUDA_ERROR_INVALID_VALUE'
fails 'cuMemAlloc:2:2' '65536 bytes .* cuMemAlloc, after 0 of 1: .*fewer' --buffers 1
fails 'cuMemAlloc:4:2' 'device memory with cuMemAlloc, after 2 of 3: .*fewer' --buffers 3 --separate
fails 'cuMemFree:2:1' '^ERROR: freeing device memory' --buffers 3 --separate
fails 'cuDevicePrimaryCtxRetain:2:2' '^ERROR: cuDevicePrimaryCtxRetain' --threads 2
fails 'cuCtxSetCurrent:3:201' '^ERROR: cuCtxSetCurrent: CUDA_ERROR_INVALID_CONTEXT' --threads 2
expect 1 env SOFTCUDA_FAIL=cuMemGetInfo:1:999 "$api" --soft --fit
complained '^ERROR: cuMemGetInfo: CUDA_ERROR_UNKNOWN'
# --fit ends at what is no lack of room.
expect 1 env SOFTCUDA_FAIL='cuMemAlloc:2:999' "$api" --soft --fit -n 1
complained '^ERROR: [0-9]+ bytes of device memory with cuMemAlloc: CUDA_ERROR_UNKNOWN'
expect 1 env SOFTCUDA_FAIL='cuMemGetHandleForAddressRange:3:801' "$api" --soft --fit -n 1 --fresh 0
complained '^ERROR: gdr_pin_buffer: '
# A process for first calls fails, or is killed.
for call in gdr_open gdr_map_v2 gdr_close; do
	expect 1 env LD_PRELOAD="$APIPERF_SHIM" APIPERF_FAIL=child:$call:1 "$api" --soft \
		--sizes 64K --first 2
	complained "^ERROR: $call: Input/output error \(5\)"
	complained '^ERROR: a process for the first calls \(--first\): Input/output error$'
done
expect 1 env LD_PRELOAD="$APIPERF_SHIM" APIPERF_FAIL=child:kill:1 "$api" --soft --sizes 64K \
	--first 2
complained '^ERROR: a process for the first calls \(--first\): '
for fault in cuInit cuDeviceGet cuMemAlloc; do
	expect 1 env SOFTCUDA_FAIL=$fault:1:100 "$api" --soft --first-calls-child -s 64K
	complained "^ERROR: .*$fault: CUDA_ERROR_NO_DEVICE"
	[ ! -s "$OUT/stdout" ] || fail "times are printed though $fault failed"
done

# A mapping type that the platform does not have; no backend.
fails 'cuMemMap:9:1' '^ERROR: gdr_map_v2: .+: .+' -M device
expect 1 env SOFTCUDA_DRIVER_VERSION=12000 "$api" --soft
complained '^ERROR: gdr_open: '
complained '^dmabuf: .*13\.3'

# Words that do not arrive, or arrive wrong.
for mode in write read; do
	expect 1 env LD_PRELOAD="${SHIM:?}" SHIM_MODE=$mode SHIM_SIZE=4 "$api" --soft --sizes 64K \
		-n 1 --fresh 0 --buffers 2 --threads 2
	complained '^ERROR: data mismatch: word at 0 of 65536 bytes, read by gdr_copy_from_mapping, is'
	complained '^ERROR: data mismatch: word at 65532 of 65536 bytes'
	said '^# DATA MISMATCH: [0-9]+ words differ$'
	said '^closing gdrdrv$'
	expect 0 env LD_PRELOAD="$SHIM" SHIM_MODE=$mode SHIM_SIZE=4 "$api" --soft --sizes 64K \
		-n 1 --fresh 0 --buffers 2 --threads 2 --no-verify
done
expect 1 env LD_PRELOAD="$SHIM" SHIM_MODE=write SHIM_SIZE=4 "$api" --soft --sizes 64K -n 1
complained '^ERROR: data mismatch: .* read by cuMemcpyDtoH'
for mode in failwrite failread; do
	expect 1 env LD_PRELOAD="$SHIM" SHIM_MODE=$mode SHIM_SIZE=4 "$api" --soft --sizes 64K -n 1
	complained '^ERROR: gdr_copy_(to|from)_mapping: Input/output error \(5\)'
done

# The file of --samples.
expect 1 "$api" --soft --samples /nonexistent/file
complained '^ERROR: --samples /nonexistent/file: No such file or directory$'
if [ -w /dev/full ]; then
	expect 1 "$api" --soft --sizes 64K --samples /dev/full
	complained '^ERROR: --samples /dev/full could not be written$'
fi

# after SIGNAL STATUS PATTERN OPTION...: a signal in the middle.
after() {
	signal=$1 status=$2 pattern=$3
	shift 3
	interrupted "$signal" "$status" "$pattern" env LD_PRELOAD="$APIPERF_SHIM" "$api" --soft "$@"
	said '^# INTERRUPTED: these are partial results\.$'
	complained '^balance: 0 contexts, 0 pins, 0 maps$'
}
after INT 130 '^# interrupted: 65536 bytes after [0-9]+ of 10000000 cycles$' -n 10000000 \
	--max-time 600
said "^65536$(printf '\t')"
said '^\| gdr_pin_buffer  '
said '^gdr_close '
# In the middle of what is shorter.
while read -r call pattern options; do
	# shellcheck disable=SC2086
	expect 130 env LD_PRELOAD="$APIPERF_SHIM" APIPERF_FAIL="signal:$call" "$api" --soft \
		--sizes 64K -n 3 -w 0 --fresh 0 $options
	said "$(echo "$pattern" | tr _ ' ')"
	said '^# INTERRUPTED: these are partial results\.$'
	complained '^balance: 0 contexts, 0 pins, 0 maps$'
done <<END
gdr_map_v2:40 ^#_interrupted:_35_of_100_buffers$ --buffers 100
gdr_map_v2:40 ^1_thread_on_one_.*_cycles/s$ --threads 2
gdr_open:4 ^#_INTERRUPTED --repeat 2
gdr_open:2 ^#_INTERRUPTED --first 2
gdr_get_info:3 ^#_interrupted:_65536_bytes_after_[0-9]_of_3_cycles$ --threads 2 --buffers 2
END
after TERM 143 '^gdr_open +0 +[0-9]+ ' --sizes 64K --fresh 1000000
after TERM 143 '^gdr_open +0 +[0-9]+ ' --sizes 64K --first 10000
exit 0
