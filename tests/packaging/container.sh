#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver container's program, with a kernel that is played by files: insmod
# and rmmod edit a modules file, make and the package managers leave a trace.
# Each case ends as it would on a node: exit status, last line, what was done.
# shellcheck disable=SC2016 # what the commands expand when they run
set -u
program=$(cd "$(dirname "$0")/../../packaging/container" && pwd)/nvidia-gdrcopy-driver
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 n=0

fresh() {
	rm -rf "${work:?}"/*
	mkdir -p "$work"/{bin,proc/driver/nvidia,root/usr/src/nvidia-580.95.05/nvidia,source,kdir,modules}
	echo 'nvidia 1 0 - Live 0x0' >"$work/proc/modules"
	echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build' \
		>"$work/proc/driver/nvidia/version"
	printf 'Character devices:\n  1 mem\n' >"$work/proc/devices"
	touch "$work/root/usr/src/nvidia-580.95.05/nvidia/nv-p2p.h" "$work/source/Makefile" \
		"$work/kdir/Makefile"
	command_is insmod 'echo "gdrdrv 1 0 - Live 0x0" >>"$PROC_ROOT/modules"
		echo "240 gdrdrv" >>"$PROC_ROOT/devices"'
	command_is rmmod 'grep -q "^$1 [0-9]* 0 " "$PROC_ROOT/modules" || exit 1
		sed -i "/^$1 /d" "$PROC_ROOT/modules"'
	command_is make 'touch "$2/gdrdrv.ko"'
	command_is mknod 'touch "$3"'
	command_is apt-get '[ "$1" = update ]'
	command_is dmesg ''
}

# A command that notes how it was called, then does what it is told.
command_is() {
	printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$work" "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

run() {
	env PATH="$work/bin:$PATH" PROC_ROOT="$work/proc" NVIDIA_DRIVER_ROOT="$work/root" \
		GDRCOPY_SOURCE="$work/source" GDRCOPY_MODULES="$work/modules" KERNEL_VERSION=9.9.9 \
		KDIR="$work/kdir" WAIT_SECONDS=0 "$@" >"$work/out" 2>&1
}

check() { # what, condition...
	local what=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		sed 's/^/# /' "$work/out"
		[ ! -f "$work/calls" ] || sed 's/^/# called: /' "$work/calls"
		bad=1
	fi
}
said() { grep -q -- "$1" "$work/out"; }
called() { grep -q -- "$1" "$work/calls" 2>/dev/null; }
not() { ! "$@"; }
fails() { # what, sentence, environment...: ends with 1 and says why; nothing is loaded
	local what=$1 sentence=$2
	shift 2
	run "$@" "$program" install
	check "$what: status 1" [ $? = 1 ]
	check "$what: says why" said "FAILED: .*$sentence"
	check "$what: loads nothing" not called '^insmod'
	check "$what: leaves the NVIDIA driver alone" not called '^rmmod nvidia'
}
# Start, wait until the module is loaded, hand over the process id.
start() {
	env PATH="$work/bin:$PATH" PROC_ROOT="$work/proc" NVIDIA_DRIVER_ROOT="$work/root" \
		GDRCOPY_SOURCE="$work/source" GDRCOPY_MODULES="$work/modules" KERNEL_VERSION=9.9.9 \
		KDIR="$work/kdir" "$@" "$program" install >"$work/out" 2>&1 &
	pid=$!
	for _ in $(seq 600); do
		grep -q 'has major' "$work/out" && return
		sleep 0.1
	done
}

fresh
: >"$work/proc/modules"
fails 'no NVIDIA driver' 'is not loaded after 0 s'
fresh
fails 'no driver root' 'is not there after 0 s' NVIDIA_DRIVER_ROOT=/nonexistent
fresh
fails 'wrong flavour' 'the loaded NVIDIA driver is the open one' KERNEL_MODULE_TYPE=proprietary
fresh
fails 'unknown flavour' 'must be auto, open or proprietary' KERNEL_MODULE_TYPE=closed
fresh
echo 'gdrdrv 1 3 - Live 0x0' >>"$work/proc/modules"
fails 'old module in use' 'in use (use count 3)'
fresh
fails 'no headers' 'no headers of kernel 9.9.9' KDIR=/nonexistent
check 'no headers: the package manager was asked' called 'apt-get install .*linux-headers-9.9.9'
fresh
rm -r "$work/root/usr/src"
fails 'no source of the driver' 'no nv-p2p.h'
fresh
command_is make 'echo "error: some reason"; exit 2'
fails 'the build fails' 'does not build'
check 'the build fails: the log is shown' said 'error: some reason'

fresh
command_is insmod 'exit 1'
run "$program" install
check 'insmod fails: status 1' [ $? = 1 ]
check 'insmod fails: says why' said 'FAILED: insmod gdrdrv'
check 'insmod fails: no node' [ ! -e "$work/root/dev/gdrdrv" ]

fresh
echo 'gdrdrv 1 0 - Live 0x0' >>"$work/proc/modules"
start GDRDRV_PARAMETERS=use_persistent_mapping=0
check 'an idle old module is replaced' called '^rmmod gdrdrv'
check 'built against the driver that is loaded' \
	called "make .*NVIDIA_SRC_DIR=$work/root/usr/src/nvidia-580.95.05/nvidia"
check 'built for its flavour' called 'make .*GDRDRV_OPEN_FLAVOUR=y'
check 'loaded with the parameters' called '^insmod .*/gdrdrv.ko use_persistent_mapping=0'
check 'the node has the major' called "mknod -m 0666 $work/root/dev/gdrdrv c 240 0"
check 'it stays' kill -0 $pid
kill -TERM $pid
wait $pid
check 'SIGTERM: status 0' [ $? = 0 ]
check 'SIGTERM: unloaded' not grep -q gdrdrv "$work/proc/modules"
check 'SIGTERM: no node' [ ! -e "$work/root/dev/gdrdrv" ]
check 'SIGTERM: the NVIDIA driver stays' grep -q '^nvidia ' "$work/proc/modules"

fresh
start
sed -i 's/^gdrdrv 1 0/gdrdrv 1 2/' "$work/proc/modules"
kill -TERM $pid
wait $pid
check 'SIGTERM while in use: status 1' [ $? = 1 ]
check 'SIGTERM while in use: says so' said 'still in use (use count 2)'
check 'SIGTERM while in use: the node stays' [ -e "$work/root/dev/gdrdrv" ]
run "$program" uninstall
check 'uninstall while in use: status 1' [ $? = 1 ]
sed -i 's/^gdrdrv 1 2/gdrdrv 1 0/' "$work/proc/modules"
run "$program" uninstall
check 'uninstall: status 0' [ $? = 0 ]
check 'uninstall: no node' [ ! -e "$work/root/dev/gdrdrv" ]

fresh
mkdir -p "$work/modules/9.9.9/580.95.05/open"
touch "$work/modules/9.9.9/580.95.05/open/gdrdrv.ko"
start
kill -TERM $pid
wait $pid
check 'a module built beforehand is taken' called "^insmod $work/modules/9.9.9/580.95.05/open/gdrdrv.ko"
check 'and nothing is built' not called '^make'

fresh
run "$program" help
check 'help: status 0' [ $? = 0 ]
run "$program" frobnicate
check 'an unknown verb: status 2' [ $? = 2 ]
# OpenShift: the toolkit's part is played by this script.
fresh
mkdir -p "$work/shared" "$work/tree/kernel"
touch "$work/tree/Makefile"
ocp=$(dirname "$program")/ocp_dtk_entrypoint
cp "$program" "$work/bin/"
env PATH="$work/bin:$PATH" PROC_ROOT="$work/proc" NVIDIA_DRIVER_ROOT="$work/root" \
	SHARED_DIR="$work/shared" GDRCOPY_TREE="$work/tree" \
	"$ocp" gdrcopy-ctr-run-with-dtk >"$work/out" 2>&1 &
pid=$!
for _ in $(seq 600); do
	[ -f "$work/shared/gdrcopy/Makefile" ] && break
	sleep 0.1
done
check 'OpenShift: the source is handed over' [ -f "$work/shared/gdrcopy/Makefile" ]
touch "$work/shared/gdrcopy/kernel/gdrdrv.ko" "$work/shared/gdrcopy_built"
for _ in $(seq 600); do
	grep -q 'has major' "$work/out" && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
check 'OpenShift: SIGTERM: status 0' [ $? = 0 ]
check 'OpenShift: what the toolkit built is loaded' \
	called "^insmod $work/shared/gdrcopy/kernel/gdrdrv.ko"
env SHARED_DIR=/nonexistent WAIT_SECONDS=0 "$ocp" gdrcopy-ctr-run-with-dtk >"$work/out" 2>&1
check 'OpenShift: no shared directory: status 1' [ $? = 1 ]
check 'OpenShift: no shared directory: says why' said 'FAILED: /nonexistent is not there'
[ $bad = 0 ]
