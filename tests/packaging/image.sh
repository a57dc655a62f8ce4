#!/bin/bash
# SPDX-License-Identifier: MIT
# The image: what packaging/container/build-image makes is unpacked and its entry
# point runs as a container would, in namespaces and a root of its own.  There is no
# NVIDIA driver, so it has to say so; what the image holds must build the module.
# Usage: tests/packaging/image.sh DIRECTORY-WITH-gdrdrv-image [KERNEL]
#   KERNEL   a directory of tests/vm/fetch-kernel: build the module for it
set -u
out=$(cd "${1:?directory of build-image}" && pwd) || exit 1
kernel=${2:-}
command -v umoci >/dev/null || { echo 'SKIP: umoci is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
bad=0 n=0
result() { # 0 or not, name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		bad=1
		[ ! -f "$work/said" ] || tail -n 20 "$work/said" | sed 's/^/# /'
	fi
}
tag=$(umoci ls --layout "$out/gdrdrv-image" | head -n 1)
umoci unpack --image "$out/gdrdrv-image:$tag" "$work/bundle" >"$work/said" 2>&1
result $? "the image $tag unpacks"
root=$work/bundle/rootfs config=$work/bundle/config.json

# The entry point is that of the image's own configuration.
mapfile -t entry < <(python3 -c 'import json, sys
for a in json.load(open(sys.argv[1]))["process"]["args"]: print(a)' "$config")
[ "${entry[*]}" = '/usr/local/bin/nvidia-gdrcopy-driver install' ]
result $? "it starts ${entry[*]}"
contain() { # VARIABLE=VALUE... command...
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount --pid --fork --propagation private sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || exit 99
		[ -z "$2" ] || { mkdir -p "$1$2" && mount --bind "$2" "$1$2"; } || exit 99
		root=$1
		shift 2
		exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
	' sh "$root" "$kernel" "$@" >"$work/said" 2>&1
}
fails() { # what, status, sentence, VARIABLE=VALUE... command...
	local what=$1 want=$2 sentence=$3 got
	shift 3
	contain "$@"
	got=$?
	[ "$got" = "$want" ]
	result $? "$what: status $want"
	grep -q -- "$sentence" "$work/said"
	result $? "$what: says why"
}
fails 'no driver' 1 'FAILED: the NVIDIA driver is not loaded' WAIT_SECONDS=0 "${entry[@]}"
fails 'wrong verb' 2 'Usage: nvidia-gdrcopy-driver' "${entry[0]}" frobnicate
fails 'OpenShift without its directory' 1 'FAILED: /mnt/shared' WAIT_SECONDS=0 \
	ocp_dtk_entrypoint gdrcopy-ctr-run-with-dtk
contain "${entry[0]}" uninstall
result $? 'uninstall with nothing loaded: status 0'

# SIGTERM while it waits, as process 1 of its own namespace.
contain "${entry[@]}" &
for _ in $(seq 600); do
	grep -qs 'waiting for the NVIDIA driver' "$work/said" && break
	sleep 0.1
done
pid=$(pgrep -P "$(pgrep -P $! | head -n 1)" 2>/dev/null | head -n 1)
: "${pid:=$(pgrep -P $! | head -n 1)}"
kill -TERM "$pid"
for _ in $(seq 600); do kill -0 $! 2>/dev/null || break; sleep 0.1; done
! kill -0 $! 2>/dev/null
result $? 'SIGTERM ends process 1 while it waits'
wait $!
result $? 'with status 0'

# With the modules of a driver played, up to the first thing that needs a kernel.
mkdir -p "$root"/played/driver/nvidia "$root"/run/nvidia/driver/usr/src/nvidia-580.95.05/nvidia
echo 'nvidia 1 0 - Live 0x0' >"$root/played/modules"
echo '  1 mem' >"$root/played/devices"
echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (x)' \
	>"$root/played/driver/nvidia/version"
cp "$root/usr/local/gdrcopy/kernel/provider/nv-p2p.h" "$root/run/nvidia/driver/usr/src/nvidia-580.95.05/nvidia/"
fails 'wrong flavour' 1 'FAILED: KERNEL_MODULE_TYPE is proprietary' PROC_ROOT=/played \
	KERNEL_MODULE_TYPE=proprietary "${entry[@]}"
fails 'headers that the archive does not have' 1 'FAILED: no headers of kernel 0.0.1' PROC_ROOT=/played \
	KERNEL_VERSION=0.0.1 "${entry[@]}"
if [ -n "$kernel" ]; then
	# Not into the kernel of this machine: the one that loads it looks at it and refuses.
	# shellcheck disable=SC2016 # the argument of that program
	printf '#!/bin/sh\nmodinfo "$1"\nexit 1\n' >"$root/usr/local/sbin/insmod"
	chmod +x "$root/usr/local/sbin/insmod"
	kver=$(cat "$kernel/kver")
	fails 'the module is built, and refused' 1 'FAILED: insmod gdrdrv' PROC_ROOT=/played \
		KERNEL_VERSION="$kver" KDIR="$kernel/root/usr/src/linux-headers-$kver" "${entry[@]}"
	grep -q "^vermagic: *$kver " "$work/said"
	result $? "it is for kernel $kver"
fi
rm -rf "$root/played"
[ $bad = 0 ]
