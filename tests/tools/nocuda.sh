#!/bin/sh
# SPDX-License-Identifier: MIT
# No driver, a driver that lacks a function, one without a GPU, no softcuda:
# one clear sentence and exit status 1.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

mkdir "$OUT/broken"
echo 'not a library' >"$OUT/broken/libcuda.so.1"
cp "$OUT/broken/libcuda.so.1" "$OUT/broken/libcuda.so"
for t in copybw copylat; do
	tool=${TOOLS:?}/gdrcopy_$t
	expect 1 env LD_LIBRARY_PATH="$OUT/broken" "$tool"
	complained '^ERROR: no CUDA driver: .*libcuda.so.1'
	complained '--soft'

	expect 1 env LD_LIBRARY_PATH="${OLD:?}" "$tool"
	complained '^ERROR: .*libcuda.so.1 has no function cuGetErrorName; '

	# softcuda stands in for a driver whose machine has no GPU.
	expect 1 env LD_LIBRARY_PATH="$TOOLS/../softcuda" SOFTCUDA_DEVICES=0 "$tool"
	complained '^ERROR: cuInit: CUDA_ERROR_NO_DEVICE \(100\)$'
	complained '--soft'

	# Found where the driver is looked for, softcuda is named as what it is.
	expect 0 env LD_LIBRARY_PATH="$TOOLS/../softcuda" GDRCOPY_BACKEND=dmabuf \
		"$tool" --sizes 4 -w 1 -r 1
	said '^# SOFTCUDA: NO GPU IS USED'

	expect 1 env GDRCOPY_SOFTCUDA_LIB=/nonexistent/libcuda.so.1 "$tool" --soft
	complained '^ERROR: softcuda: GDRCOPY_SOFTCUDA_LIB=/nonexistent/libcuda.so.1: No such file'
	# The environment asks for it as the option does.
	expect 1 env GDRCOPY_SOFTCUDA=1 GDRCOPY_SOFTCUDA_LIB=/nonexistent/libcuda.so.1 "$tool"
	complained '^ERROR: softcuda: '
	expect 1 env GDRCOPY_SOFTCUDA=0 GDRCOPY_SOFTCUDA_LIB=/nonexistent/libcuda.so.1 \
		LD_LIBRARY_PATH="$OUT/broken" "$tool"
	complained '^ERROR: no CUDA driver: '

	# A library that libgdrapi's own dlopen would not find again.
	expect 1 env GDRCOPY_SOFTCUDA_LIB="${SHIM:?}" \
		LD_LIBRARY_PATH="$OUT/broken" "$tool" --soft
	complained 'does not have the SONAME libcuda.so.1'

	# Away from its tree, and nothing installed.
	[ -e "${LIBDIR:?}/gdrcopy/softcuda/libcuda.so.1" ] && continue
	mkdir -p "$OUT/a/bin"
	cp "$tool" "$OUT/a/bin/"
	expect 1 env LD_LIBRARY_PATH="$TOOLS/../src" "$OUT/a/bin/gdrcopy_$t" --soft
	complained '^ERROR: softcuda is not installed: '
done
