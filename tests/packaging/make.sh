#!/bin/bash
# SPDX-License-Identifier: MIT
# The doors of the Makefile, with meson, ninja and the driver's make played: what is
# called, with which options and directories.
# shellcheck disable=SC2016 # what the commands expand when they run
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 n=0
unset MAKEFLAGS KDIR NVIDIA_SRC_DIR DESTDIR SIGN_KEY
mkdir -p "$work"/{bin,tree/kernel}
cp Makefile "$work/tree/"
for c in meson ninja; do
	printf '#!/bin/sh\necho "%s $* DESTDIR=${DESTDIR-}" >>"%s/calls"\n' $c "$work" >"$work/bin/$c"
	chmod +x "$work/bin/$c"
done
printf 'all install:\n\t@echo "kernel $@ $(NVIDIA_SRC_DIR) $(KDIR) DESTDIR=$(DESTDIR) $(SIGN_KEY)" >>"%s/calls"\n' \
	"$work" >"$work/tree/kernel/Makefile"

check() { # what make is told, what must be called: patterns of whole lines
	local args=$1 i=0 ok=1
	shift
	n=$((n + 1))
	: >"$work/calls"
	# shellcheck disable=SC2086 # a command line
	PATH=$work/bin:$PATH make -C "$work/tree" $args >"$work/said" 2>&1 || ok=0
	mapfile -t calls <"$work/calls"
	[ ${#calls[@]} = $# ] || ok=0
	for want; do
		# shellcheck disable=SC2053 # a pattern
		[[ ${calls[i]-} = $want ]] || ok=0
		i=$((i + 1))
	done
	if [ $ok = 1 ]; then echo "ok $n - make $args"; else
		echo "not ok $n - make $args"
		sed 's/^/# called: /' "$work/calls"
		bad=1
	fi
}
check lib 'meson setup build-make -Dprefix=/usr/local *-Dtests=false*' 'ninja -C build-make *'
check 'install prefix=/opt/gdrcopy DESTDIR=stage libdir=lib64' \
	'meson setup build-make -Dprefix=/opt/gdrcopy -Dlibdir=lib64 *' 'ninja -C build-make *' \
	"meson install -C build-make --no-rebuild DESTDIR=$work/tree/stage"
check lib_install 'meson setup build-make-lib *-Dtools=false -Dsoftcuda=false*' \
	'ninja -C build-make-lib *' 'meson install -C build-make-lib --no-rebuild DESTDIR='
check 'driver NVIDIA_SRC_DIR=/n KDIR=/k' 'kernel all /n /k DESTDIR= '
check 'drv_install DESTDIR=stage SIGN_KEY=/key' "kernel install   DESTDIR=$work/tree/stage /key"
# An existing build directory gets the options of this call.
mkdir -p "$work/tree/build-make"
touch "$work/tree/build-make/build.ninja"
check 'lib prefix=/other' 'meson setup --reconfigure build-make -Dprefix=/other *' 'ninja *'
check clean
n=$((n + 1))
if [ ! -e "$work/tree/build-make" ]; then
	echo "ok $n - clean removes the build directory"
else
	echo "not ok $n - clean leaves the build directory"
	bad=1
fi
[ $bad = 0 ]
