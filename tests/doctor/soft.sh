#!/bin/sh
# SPDX-License-Identifier: MIT
# --soft: no remedy speaks of a GPU or a driver, which softcuda needs not, on machines
# with and without them; what softcuda's variables bring about is put down to them.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
# shellcheck source=/dev/null
. "$SRC/healthy.sh"

# doctor STATUS VARIABLE...: its report with --soft, in $OUT/stdout.
doctor() {
	status=$1
	shift
	expect "$status" env -i PATH="$PATH" ASAN_OPTIONS="$ASAN_OPTIONS" \
		UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1}" LSAN_OPTIONS="$LSAN_OPTIONS" \
		TSAN_OPTIONS="${TSAN_OPTIONS:-}" \
		GDRCOPY_SOFTCUDA_LIB="${SOFT:?}/libcuda.so.1" "$@" "${DOCTOR:?}" --soft \
		--root "$root"
}

remedies() {
	n=$(grep -c '^  *-> ' "$OUT/stdout")
	[ "$n" -eq "$1" ] || fail "$n remedies, expected $1"
}

root=$OUT/bare
mkdir -p "$root/sys/bus/pci/devices" "$root/usr/lib"
cp "${LIBGDRAPI:?}" "$root/usr/lib/libgdrapi.so.2"
ln -s libgdrapi.so.2 "$root/usr/lib/libgdrapi.so"
doctor 0
remedies 0
said '^  NOTE  gpu            no NVIDIA GPU is on the PCI bus of this machine$'
said '^  NOTE  module         the NVIDIA driver is not loaded'
said '^  NOTE  nccl           NCCL uses GDRCopy only where'
said '^  NOTE  gdrdrv         needs a GPU and its driver$'
said '^  NOTE  rm             needs a GPU and its driver$'
said '^GDRCopy works here through dmabuf, on softcuda: host memory, no GPU\.$'

# The choice of GPUs: what is wrong with it, as other programs say it.
for list in GPU-736 7; do
	expect 1 env -i PATH="$PATH" ASAN_OPTIONS="$ASAN_OPTIONS" LSAN_OPTIONS="$LSAN_OPTIONS" \
		GDRCOPY_SOFTCUDA_LIB="$SOFT/libcuda.so.1" SOFTCUDA_DEVICES=3 "$DOCTOR" --soft \
		--root "$root" -d $list
	said "^  FAIL  devices        GPU $list: (the UUIDs of 3 GPUs start so|there are 3 GPUs, numb.*)\$"
	said '^ +-> gdrcopy_doctor --device all$'
done
said '^GDRCopy does not work here: GPU 7: there are 3 GPUs, numbers 0 to 2\.'

# Where the caller ignores SIGCHLD, as elsewhere.
doctor 0 python3 "$SRC/../tools/no_sigchld.py"
count '^  FAIL' 0
said '^GDRCopy works here through dmabuf, on softcuda: host memory, no GPU\.$'
# A child that somebody else has waited for; its number may already be another's.
doctor 1 LD_PRELOAD="${SHIM:?}" SHIM_REAPED=1
silent
said '^  FAIL  start  .*: the process cannot be waited for: No child processes$'

# A driver that nobody may use, and one that is not loaded.
healthy_root "$OUT/machine"
root=$OUT/machine
put dev/nvidiactl 'c 195:255 600'
rm "$root/dev/nvidia-uvm" "$root/dev/gdrdrv"
doctor 0
remedies 0
said '^  NOTE  uvm node       there is no /dev/nvidia-uvm$'
rm -r "$root/proc/driver/nvidia"
doctor 0
remedies 0
said '^  NOTE  module         the NVIDIA driver is installed but not loaded$'

# Forced to what cannot work: the choice is what there is to mend.
root=$OUT/bare
for backend in gdrdrv rm; do
	doctor 1 GDRCOPY_BACKEND=$backend
	remedies 1
	said "^  FAIL  $backend  *needs a GPU and its driver$"
	said '^ +-> unset GDRCOPY_BACKEND$'
done

# put_down STATUS FINDING ASSIGNMENT: whose remedy names the variable, and is the only one.
put_down() {
	doctor "$1" "$3"
	remedies 1
	said "$2"
	said "^ +-> unset ${3%%=*}   # or give other values: softcuda\\(7\\)$"
}

put_down 1 '^  FAIL  start          cuInit: CUDA_ERROR_NO_DEVICE' SOFTCUDA_DEVICES=0
put_down 1 '^  FAIL  start          cuInit: CUDA_ERROR_INVALID_VALUE' SOFTCUDA_MEMORY=x
put_down 1 '^  FAIL  start          cuInit: CUDA_ERROR_UNKNOWN' 'SOFTCUDA_FAIL=cuInit:*:999'
put_down 1 '^  FAIL  dmabuf         needs a driver for CUDA 13.3' SOFTCUDA_DRIVER_VERSION=12000
put_down 1 '^  FAIL  dmabuf         no device can map' SOFTCUDA_ATTRS=124=0,152=0
put_down 1 '^  FAIL  dmabuf         cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY' \
	'SOFTCUDA_FAIL=cuMemAlloc:*:2,cuMemCreate:*:2'
put_down 1 '^  FAIL  dmabuf         gdr_pin_buffer: ' \
	'SOFTCUDA_FAIL=cuMemGetHandleForAddressRange:*:801'
put_down 0 '^  FAIL  compute mode   compute mode is PROHIBITED' SOFTCUDA_ATTRS=20=2
put_down 0 '^  WARN  compute mode   compute mode is EXCLUSIVE_PROCESS' SOFTCUDA_ATTRS=20=3

# CUDA's own list of devices has no say here.
doctor 1 SOFTCUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=0
remedies 1
said '^ +-> unset SOFTCUDA_DEVICES   #'
