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
share=$(find "$OUT/root" -type d -name bash-completion)
for tool in "$bin"/*; do
	name=${tool##*/}
	[ -f "$share/completions/$name" ] || fail "no completion for $name"
	command -v bash >/dev/null || continue
	# shellcheck disable=SC2016
	expect 0 env PATH="$bin:$PATH" LD_LIBRARY_PATH="$lib" bash --norc -c \
		'. "$1" && complete -p "$2"' bash "$share/completions/$name" "$name"
	said "^complete .*-F _gdrcopy_[a-z]+ $name\$"
done
for name in copybw sanity gdrcopy_doctor gdrcopy_pplat; do
	[ -f "$share/completions/$name" ] || fail "no completion for $name"
	grep -Eq "^#compdef .*\b$name\b" "$share/../zsh/site-functions/_gdrcopy" ||
		fail "no completion for zsh of $name"
done
[ -f "$share/../gdrcopy/report.schema.json" ] || fail "no schema"
[ "$(readlink "$bin/copybw")" = gdrcopy_copybw ] || fail "copybw is no link"
