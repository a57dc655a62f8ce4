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
	shell=()
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

# In the background this is the process that gets the signal.
enter() {
	exec env PATH="$work/bin:$PATH" PROC_ROOT="$work/proc" FILES_ROOT="$work/files" \
		NVIDIA_DRIVER_ROOT="$work/root" GDRCOPY_SOURCE="$work/source" \
		GDRCOPY_MODULES="$work/modules" KERNEL_VERSION=9.9.9 KDIR="$work/kdir" "$@"
}
run() { (enter WAIT_SECONDS=0 "$@") >"$work/out" 2>&1; }

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
said() { grep -qs -- "$1" "$work/out"; }
called() { grep -q -- "$1" "$work/calls" 2>/dev/null; }
not() { ! "$@"; }
fails() { # what, sentence, environment...: ends with 1 and says why; nothing is loaded
	local what=$1 sentence=$2
	shift 2
	run "$@" "${shell[@]}" "$program" install
	check "$what: status 1" [ $? = 1 ]
	check "$what: says why" said "FAILED: .*$sentence"
	check "$what: loads nothing" not called '^insmod'
	check "$what: leaves the NVIDIA driver alone" not called '^rmmod nvidia'
}
soon() { # condition...
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	return 1
}
begin() { # environment...
	enter "$@" "${shell[@]}" "$program" install >"$work/out" 2>&1 &
	pid=$!
}
# Start, wait until the module is loaded, hand over the process id.
start() { # environment...
	begin "$@"
	soon said 'has major'
}
gone() { ! kill -0 "$1" 2>/dev/null; }

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

# Headers: those of the image, of mounts, and of the driver's root, where an absolute link
# means a place in that root.
built_with() { # directory of headers, environment...
	local kdir=$1
	shift
	command_is make 'exit 2'
	run KDIR= "$@" "$program" install
	called "^make .* KDIR=$kdir KVER"
}
headers_in() { # directory
	mkdir -p "$1"
	touch "$1/Makefile"
}
for where in root files; do
	fresh
	mkdir -p "$work/$where/lib/modules/9.9.9"
	ln -s /usr/src/of-a-test "$work/$where/lib/modules/9.9.9/build"
	headers_in "$work/root/usr/src/of-a-test"
	check "headers: an absolute build link of $where" built_with "$work/root/usr/src/of-a-test"
	check "headers: an absolute build link of $where: nothing is installed" not called 'apt-get'
done
suse=linux-9.9.9-obj/$(uname -m)/default
for d in files/usr/src/{kernels,linux-headers}-9.9.9 root/usr/src/{kernels,linux-headers}-9.9.9; do
	fresh
	d=${d/kernels-/kernels\/}
	headers_in "$work/$d"
	check "headers: in $d, without a link" built_with "$work/$d"
done
fresh
headers_in "$work/root/usr/src/$suse"
check "headers: in root/usr/src/$suse" built_with "$work/root/usr/src/$suse" KERNEL_VERSION=9.9.9-default
fresh
headers_in "$work/root/usr/src/linux-headers-9.9.9"
check 'headers: KDIR goes before all others' built_with "$work/kdir" KDIR="$work/kdir"

# An image with no package manager but the one that is played.
only() {
	local t
	mkdir "$work/only"
	for t in cat cp dirname env find grep head ln mkdir mktemp readlink rm sed sh sleep sort tail \
		touch uname; do
		ln -s "$(command -v $t)" "$work/only/"
	done
	rm "$work/bin/apt-get"
}
fresh
only
command_is dnf 'mkdir -p "$FILES_ROOT/usr/src/kernels/9.9.9" &&
	touch "$FILES_ROOT/usr/src/kernels/9.9.9/Makefile"'
check 'dnf: its headers are found' \
	built_with "$work/files/usr/src/kernels/9.9.9" PATH="$work/bin:$work/only"
check 'dnf: it was asked for this kernel' called '^dnf install .*kernel-devel-9.9.9$'
check 'dnf: the log says so' said 'installing the headers of kernel 9.9.9'
fresh
only
command_is zypper 'd=$FILES_ROOT/usr/src/linux-9.9.9-obj/$(uname -m)/default
	mkdir -p "$d" && touch "$d/Makefile"'
check 'zypper: its headers are found' built_with "$work/files/usr/src/$suse" \
	PATH="$work/bin:$work/only" KERNEL_VERSION=9.9.9-default
check 'zypper: it was asked for this kernel' called '^zypper .*kernel-default-devel=9.9.9$'
fresh
only
fails 'no package manager' 'no headers of kernel 9.9.9' KDIR= PATH="$work/bin:$work/only"
check 'no package manager: says so' said 'no apt-get, dnf or zypper'
fresh
only
command_is dnf ''
fails 'headers at an unknown place' 'were installed, but' KDIR= PATH="$work/bin:$work/only"

# Debian: the headers are mounted, what they lead to is in the driver's root only.
fresh
mkdir -p "$work/root/usr/lib/linux-kbuild-9.9/scripts" "$work/root/usr/src/linux-headers-9.9.9-common" \
	"$work/files/usr/lib" "$work/files/usr/src/linux-headers-9.9.9-common"
headers_in "$work/files/usr/src/linux-headers-9.9.9"
headers_in "$work/root/usr/src/linux-headers-9.9.8-common"
touch "$work/root/usr/src/linux-headers-9.9.9-common/of-the-root"
ln -s ../../lib/linux-kbuild-9.9/scripts "$work/files/usr/src/linux-headers-9.9.9/scripts"
command_is make 'for a; do case $a in KDIR=*) kdir=${a#*=} ;; esac; done
	cd "$kdir/scripts/." && [ -f "$FILES_ROOT/usr/src/linux-headers-9.9.8-common/Makefile" ] &&
	[ ! -e "$FILES_ROOT/usr/src/linux-headers-9.9.9-common/of-the-root" ] && touch "$2/gdrdrv.ko"'
start KDIR=
check 'headers: what they lead to is linked, what is there stays' called '^insmod'
kill -TERM $pid 2>/dev/null
wait $pid

# Two drivers lie under the root as Debian names them.
fresh
rm -r "$work/root/usr/src"
mkdir -p "$work"/root/usr/src/nvidia-current-{535.1,580.95.05}
touch "$work"/root/usr/src/nvidia-current-{535.1,580.95.05}/nv-p2p.h
command_is make 'exit 2'
run "$program" install
check 'built against the source of the loaded driver, not another' \
	called "make .*NVIDIA_SRC_DIR=$work/root/usr/src/nvidia-current-580.95.05 "

# SIGTERM at each stage, with each shell: it ends at once, and nothing of it is left.
child() { [ -s "$work/child" ] && read -r child <"$work/child"; }
stops() { # what, sentence
	kill -TERM $pid
	local since=$SECONDS
	wait $pid
	check "$1: SIGTERM: status 0" [ $? = 0 ]
	check "$1: SIGTERM: at once" [ $((SECONDS - since)) -lt 10 ]
	check "$1: SIGTERM: says so" said "$2"
	check "$1: SIGTERM: what it was waiting for ends too" soon gone "$child"
	check "$1: SIGTERM: nothing is loaded" not grep -q gdrdrv "$work/proc/modules"
}
# busybox may take its own insmod before that of the path, so with it nothing is loaded.
long='echo $$ >"$PROC_ROOT/../child"; exec sleep 15'
for sh in dash 'busybox sh' bash; do
	command -v "${sh%% *}" >/dev/null || { echo "# no $sh here"; continue; }
	for stage in make apt-get sleep; do
		[ "$stage $sh" != 'sleep busybox sh' ] || continue
		fresh
		read -ra shell <<<"$sh"
		command_is $stage "${long/sleep/$(command -v sleep)}"
		case $stage in
		apt-get) begin KDIR=/nonexistent ;;
		*) begin ;;
		esac
		soon child
		case $stage in
		sleep) stops "$sh, loaded" 'gdrdrv is unloaded' ;;
		*) stops "$sh, in $stage" 'stopped before gdrdrv was loaded' ;;
		esac
	done
	fresh
	read -ra shell <<<"$sh"
	command_is make 'echo "error: some reason"; exit 2'
	fails "$sh, the build fails" 'does not build'
	[ "$sh" != 'busybox sh' ] || continue
	fresh
	read -ra shell <<<"$sh"
	command_is rmmod 'sleep 1; sed -i "/^$1 /d" "$PROC_ROOT/modules"'
	start
	kill -TERM $pid
	soon called '^rmmod'
	kill -TERM $pid
	wait $pid
	check "$sh, a second SIGTERM: status 0" [ $? = 0 ]
	check "$sh, a second SIGTERM: unloads once" [ "$(grep -c ^rmmod "$work/calls")" = 1 ]
	check "$sh, a second SIGTERM: no node" [ ! -e "$work/root/dev/gdrdrv" ]
done

# OpenShift: the toolkit's part is played by this script, and a module is a text with the
# name of its kernel.
shared=$work/shared ko=$work/shared/gdrcopy/kernel/gdrdrv.ko
ocp=$(dirname "$program")/ocp_dtk_entrypoint
openshift() {
	enter PATH="$work/bin:$PATH" SHARED_DIR="$shared" GDRCOPY_TREE="$work/tree" \
		"$ocp" gdrcopy-ctr-run-with-dtk
}
pod() {
	fresh
	mkdir -p "$shared" "$work/tree/kernel"
	touch "$work/tree/Makefile"
	cp "$program" "$work/bin/"
	command_is modinfo 'cat "$3"'
}
again() { # another container in the same pod
	: >"$work/calls"
	openshift >"$work/out" 2>&1 &
	pid=$!
}
stopped() {
	kill -TERM $pid
	wait $pid
}
toolkit_builds() { # kernel
	echo "$1 SMP mod_unload" >"$ko"
	touch "$shared/gdrcopy_built"
}
pod
again
check 'OpenShift: the source is handed over' soon [ -f "$shared/gdrcopy/Makefile" ]
toolkit_builds 9.9.9
soon said 'has major'
stopped
check 'OpenShift: SIGTERM: status 0' [ $? = 0 ]
check 'OpenShift: what the toolkit built is loaded' called "^insmod $ko"
again
check 'OpenShift, again: what the toolkit built is loaded' soon called "^insmod $ko"
stopped
check 'OpenShift, again: SIGTERM: status 0' [ $? = 0 ]
for kernel in 9.9.8 ''; do
	toolkit_builds "$kernel"
	again
	check "OpenShift, again, a module of kernel '$kernel': it is to be built anew" \
		soon [ ! -e "$shared/gdrcopy_built" ]
	check 'OpenShift: and the source is handed over' soon [ -f "$shared/gdrcopy/Makefile" ]
	check 'OpenShift: without what was built' [ ! -e "$ko" ]
	toolkit_builds 9.9.9
	check 'OpenShift: what was built anew is loaded' soon called "^insmod $ko"
	stopped
done
rm "$ko"
again
check 'OpenShift, again, no module: it is to be built anew' soon [ ! -e "$shared/gdrcopy_built" ]
soon [ -f "$shared/gdrcopy/Makefile" ]
stopped
check 'OpenShift, SIGTERM while the toolkit builds: status 0' [ $? = 0 ]
touch "$shared/gdrcopy/half-way"
again
sleep 1
toolkit_builds 9.9.9
check 'OpenShift, again while the toolkit builds: the result is loaded' soon called "^insmod $ko"
check 'OpenShift, again while the toolkit builds: it is left alone' [ -e "$shared/gdrcopy/half-way" ]
stopped
env SHARED_DIR=/nonexistent WAIT_SECONDS=0 "$ocp" gdrcopy-ctr-run-with-dtk >"$work/out" 2>&1
check 'OpenShift: no shared directory: status 1' [ $? = 1 ]
check 'OpenShift: no shared directory: says why' said 'FAILED: /nonexistent is not there'
[ $bad = 0 ]
