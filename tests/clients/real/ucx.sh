#!/bin/sh
# SPDX-License-Identifier: MIT
# UCX over this library: that it finds gdr_copy and uses it, that the data is right, and
# what a message between two processes costs with and without.
#
#   ucx.sh PREFIX LIBDIR
#
# PREFIX: UCX, built --with-cuda --with-gdrcopy.  LIBDIR: where libgdrapi.so.2 is.
# LD_LIBRARY_PATH may name what else UCX needs, libcudart say; CC a compiler.
# Exit status 1: gdr_copy was not used, a call of it was refused, or data was wrong;
# 77: there is no CUDA device.
set -u

if [ $# -ne 2 ]; then
	sed -n 's/^#   //p' "$0" >&2
	exit 2
fi
top=$(cd "$(dirname "$0")/../../.." && pwd) || exit 2
prefix=$(cd "$1" && pwd) || exit 2
libdir=$(cd "$2" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
LD_LIBRARY_PATH=$libdir:$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$prefix/bin:$PATH
# Messages of two processes of one machine need no other device.
UCX_NET_DEVICES=lo
UCX_LOG_LEVEL=error
export LD_LIBRARY_PATH PATH UCX_NET_DEVICES UCX_LOG_LEVEL
port=13400

fail() {
	echo "ucx.sh: $*" >&2
	exit 1
}

build() {
	mkdir "$tmp/counting"
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -I"$top/include" \
		-Wl,-soname,libgdrapi.so.2 -o "$tmp/counting/libgdrapi.so.2" \
		"$top/tests/clients/real/counting.c" -ldl ||
		fail "counting.c does not build"
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -I"$top/src" -I"$prefix/include" \
		-o "$tmp/ucx_tag" "$top/tests/clients/real/ucx_tag.c" \
		-L"$prefix/lib" -lucp -lucs -ldl -lpthread || fail "ucx_tag.c does not build"
}

# counted COMMAND...: run it over the library that counts; then sum FIELD says how often.
counted() (
	rm -f "$tmp/counts"
	export COUNTING_LIBRARY="$libdir/libgdrapi.so.2" COUNTING_OUTPUT="$tmp/counts"
	LD_LIBRARY_PATH=$tmp/counting:$LD_LIBRARY_PATH
	"$@"
)

sum() {
	awk -v field="$1" '{ for (i = 2; i < NF; i += 2) if ($i == field) n += $(i + 1) }
		END { print n + 0 }' "$tmp/counts"
}

check_used() {
	[ "$(sum to)" -gt 0 ] || fail "$1: gdr_copy copied nothing to the GPU"
	[ "$(sum from)" -gt 0 ] || fail "$1: gdr_copy copied nothing from the GPU"
	[ "$(sum refused)" -eq 0 ] || fail "$1: $(sum refused) calls of the library failed"
	[ "$(sum pin)" -eq "$(sum unpin)" ] || fail "$1: $(sum pin) pins, $(sum unpin) taken back"
	[ "$(sum map)" -eq "$(sum unmap)" ] || fail "$1: $(sum map) maps, $(sum unmap) taken back"
}

# The data, by ucx_tag, and what it took.
check_data() {
	counted env UCX_TLS="$1" timeout 120 "$tmp/ucx_tag" >"$tmp/log" 2>&1
	status=$?
	[ $status -eq 0 ] || tail -5 "$tmp/log" >&2
	[ $status -ne 77 ] || exit 77
	[ $status -eq 0 ] || fail "UCX_TLS=$1: exit status $status"
	echo "UCX_TLS=$1: $(tail -1 "$tmp/log")"
	sed 's/^/  /' "$tmp/counts"
}

# One test a line: its name and arguments.
write_batch() {
	for size in 8 64 1024 4096 65536; do
		echo "lat_$size -t tag_lat -s $size -n 1000 -w 100"
	done >"$tmp/batch"
	for size in 4096 65536; do
		echo "bw_$size -t tag_bw -s $size -n 1000 -w 100"
	done >>"$tmp/batch"
}

# The batch between two processes; names and figures go to file $2.
measure() {
	export UCX_TLS="$1"
	timeout 60 ucx_perftest -p $port -m cuda -b "$tmp/batch" >"$tmp/server" 2>&1 &
	server=$!
	sleep 1
	timeout 60 ucx_perftest 127.0.0.1 -p $port -m cuda -f -v -b "$tmp/batch" \
		>"$tmp/client" 2>&1
	status=$?
	port=$((port + 1))
	[ $status -eq 0 ] || kill $server 2>/dev/null
	wait $server || status=1
	[ $status -eq 0 ] || cat "$tmp/client" "$tmp/server" >&2
	[ $status -eq 0 ] || fail "UCX_TLS=$1: ucx_perftest failed"
	# CSV: name, iterations, median latency, average, overall, average MB/s, ...
	awk -F, 'NF == 9 && NR > 1 { print $1, ($1 ~ /^bw/ ? $6 : $3) }' "$tmp/client" >"$2"
	[ "$(wc -l <"$2")" -eq "$(wc -l <"$tmp/batch")" ] || fail "a test of the batch has no figure"
}

compare() {
	measure "$1,cuda_copy,gdr_copy" "$tmp/with"
	measure "$1,cuda_copy" "$tmp/without"
	paste -d' ' "$tmp/with" "$tmp/without" | while read -r name with _ without; do
		unit=us
		[ "${name%_*}" = lat ] || unit=MB/s
		printf '%-5s tag_%-3s %6d bytes: %9s %s with gdr_copy, %9s %s without\n' "$1" \
			"${name%_*}" "${name#*_}" "$with" $unit "$without" $unit
	done
}

build
ucx_info -v | head -1
for transport in tcp sm; do
	check_data $transport,cuda_copy
	[ "$(sum pin)" -eq 0 ] || fail "$transport: pinned although gdr_copy was left out"
done
ucx_info -d >"$tmp/info" 2>&1 || fail "ucx_info failed"
sed -n '/Transport: gdr_copy/,/error handling/p' "$tmp/info"
grep -q 'Transport: gdr_copy' "$tmp/info" || fail "ucx_info -d lists no gdr_copy"
for transport in tcp sm; do
	check_data $transport,cuda_copy,gdr_copy
	check_used $transport
done
write_batch
counted measure tcp,cuda_copy,gdr_copy "$tmp/with" || exit 1
port=$((port + 1))
sed 's/^/  /' "$tmp/counts"
check_used ucx_perftest
for transport in tcp sm; do
	compare $transport
done
