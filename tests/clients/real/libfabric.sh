#!/bin/sh
# SPDX-License-Identifier: MIT
# libfabric over this library: that it takes it into use when asked to, and not otherwise,
# and that fabtests moves device memory between two processes, data checked, either way.
#
#   libfabric.sh PREFIX LIBDIR [PROVIDER]
#
# PREFIX: libfabric and fabtests, built --with-cuda --with-gdrcopy.  LIBDIR: where
# libgdrapi.so.2 is.  PROVIDER: shm where none is given; of libfabric's providers efa and
# those above it register memory with gdrcopy, shm itself copies by CUDA's IPC.
# LD_LIBRARY_PATH may name what else is needed, libcudart say; CC a compiler.
# Exit status 1: the library was not used, a call of it was refused, or data was wrong;
# 77: there is no CUDA device.
set -u

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	sed -n 's/^#   //p' "$0" >&2
	exit 2
fi
top=$(cd "$(dirname "$0")/../../.." && pwd) || exit 2
prefix=$(cd "$1" && pwd) || exit 2
libdir=$(cd "$2" && pwd) || exit 2
provider=${3:-shm}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
LD_LIBRARY_PATH=$libdir:$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$prefix/bin:$PATH
export LD_LIBRARY_PATH PATH COUNTING_LIBRARY="$libdir/libgdrapi.so.2"
port=13600

fail() {
	echo "libfabric.sh: $*" >&2
	exit 1
}

# libfabric opens libgdrapi.so, the name of the development files.
build() {
	mkdir "$tmp/counting"
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -I"$top/include" \
		-Wl,-soname,libgdrapi.so.2 -o "$tmp/counting/libgdrapi.so.2" \
		"$top/tests/clients/real/counting.c" -ldl ||
		fail "counting.c does not build"
	ln -s libgdrapi.so.2 "$tmp/counting/libgdrapi.so"
}

sum() {
	awk -v field="$1" '{ for (i = 2; i < NF; i += 2) if ($i == field) n += $(i + 1) }
		END { print n + 0 }' "$tmp/counts"
}

# pingpong DIRECTORY LEVEL: a server and a client, libgdrapi.so found in DIRECTORY first.
pingpong() {
	export FI_LOG_LEVEL="$2"
	set -- env LD_LIBRARY_PATH="$1:$LD_LIBRARY_PATH" timeout 60 fi_rdm_pingpong -p "$provider" \
		-E=$port -D cuda -v -I 500 -S l:8,64,1024,4096,65536
	port=$((port + 1))
	"$@" >"$tmp/server" 2>&1 &
	server=$!
	sleep 1
	"$@" 127.0.0.1 >"$tmp/client" 2>&1
	status=$?
	[ $status -eq 0 ] || kill $server 2>/dev/null
	wait $server || status=1
	[ $status -eq 0 ] || cat "$tmp/client" "$tmp/server" >&2
	if grep -q '^ft_hmem_init' "$tmp/client"; then
		echo "skipped: fabtests finds no CUDA device" >&2
		exit 77
	fi
	[ $status -eq 0 ] || fail "fi_rdm_pingpong: exit status $status with FI_HMEM_CUDA_USE_GDRCOPY=$use"
}

# One run that counts, one that measures.
run() {
	export FI_HMEM_CUDA_USE_GDRCOPY=$use COUNTING_OUTPUT="$tmp/counts"
	: >"$tmp/counts"
	pingpong "$tmp/counting" info
	echo "FI_HMEM_CUDA_USE_GDRCOPY=$use, $provider:"
	grep -i gdrcopy "$tmp/client" | sed 's/^libfabric:[^>]*/  /' | sort -u
	sed 's/^/  /' "$tmp/counts"
	pingpong "$libdir" warn
	sed 's/^/  /' "$tmp/client"
}

build
use=1
run
[ "$(sum open)" -ge 2 ] || fail "libfabric did not open the library in both processes"
[ "$(sum refused)" -eq 0 ] || fail "$(sum refused) calls of the library failed"
[ "$(sum open)" -eq "$(sum close)" ] || fail "$(sum open) times opened, $(sum close) closed"
[ "$(sum pin)" -eq "$(sum unpin)" ] || fail "$(sum pin) pins, $(sum unpin) taken back"
use=0
run
[ "$(sum open)" -eq 0 ] || fail "libfabric opened the library although it was told not to"
