#!/bin/sh
# SPDX-License-Identifier: MIT
# Installed below a DESTDIR: the tools find softcuda there, and the short names exist.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

DESTDIR=$OUT/root meson install --no-rebuild -C "${BUILD:?}" >"$OUT/stdout" 2>"$OUT/stderr" ||
	fail "meson install"
bin=$OUT/root${BINDIR:?}
lib=$OUT/root${LIBDIR:?}
[ -f "$lib/gdrcopy/softcuda/libcuda.so.1" ] || fail "softcuda is not installed"
for name in gdrcopy_copybw copybw gdrcopy_copylat copylat; do
	# softcuda lives outside the directory that LD_LIBRARY_PATH names.
	expect 0 env LD_LIBRARY_PATH="$lib" "$bin/$name" --soft --sizes 4 -w 2 -r 2
	real=$(readlink -f "$lib/gdrcopy/softcuda/libcuda.so.1")
	said "^# libcuda: $real\$"
	said '^# backend: dmabuf$'
done
[ "$(readlink "$bin/copybw")" = gdrcopy_copybw ] || fail "copybw is no link"
