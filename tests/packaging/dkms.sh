# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by scripts/test-packages
# A package that stands in for NVIDIA's: its DKMS module exports what gdrdrv needs.
# gdrdrv must be built after it, and again when it changes.

stand_in() { # version, licence, [what its source starts with]
	local version=$1 tree=$root/tmp/stand-in
	rm -rf "$tree"
	mkdir -p "$tree/DEBIAN" "$tree/usr/src/nvidia-$version"
	cp "$here"/kernel/provider/{Kbuild,nv-p2p.h} "$tree/usr/src/nvidia-$version/"
	{
		echo "${3:-}"
		sed '/^MODULE_LICENSE/d' "$here/kernel/provider/nvidia.c"
		echo "MODULE_LICENSE(\"$2\");"
		echo "MODULE_VERSION(\"$version\");"
	} >"$tree/usr/src/nvidia-$version/nvidia.c"
	cat >"$tree/usr/src/nvidia-$version/dkms.conf" <<-CONF
	PACKAGE_NAME="nvidia"
	PACKAGE_VERSION="$version"
	BUILT_MODULE_NAME[0]="nvidia"
	DEST_MODULE_LOCATION[0]="/kernel/drivers/video"
	AUTOINSTALL="yes"
	MAKE[0]="make -C \$kernel_source_dir M=\$dkms_tree/nvidia/$version/build modules"
	CONF
	cat >"$tree/DEBIAN/control" <<-CONTROL
	Package: nvidia-stand-in
	Version: $version
	Architecture: all
	Maintainer: nobody <nobody@gdrcopy.invalid>
	Depends: dkms
	Description: stands in for the NVIDIA driver
	CONTROL
	cat >"$tree/DEBIAN/postinst" <<-POST
	#!/bin/sh
	dkms add nvidia/$version
	dkms install nvidia/$version -k $kernel
	POST
	cat >"$tree/DEBIAN/prerm" <<-PRE
	#!/bin/sh
	dkms remove nvidia/$version --all
	PRE
	chmod 755 "$tree"/DEBIAN/{postinst,prerm}
	dpkg-deb --root-owner-group -b "$tree" "$root/debs/stand-in.deb" >/dev/null
}
built_for() { inside modinfo -k "$kernel" -F nvidia gdrdrv; }
is() { # wanted, command...
	local want=$1
	shift
	[ "$("$@" 2>/dev/null)" = "$want" ]
}
installed() { inside dkms status -m "$1" -k "$kernel" | grep -q installed; }
remove_both() {
	local m
	for m in gdrdrv nvidia; do
		inside dkms unbuild "$m/$(inside dkms status -m $m | sed -n 's|^[a-z]*[/,] *\([^,:]*\).*|\1|p' |
			head -n 1)" -k "$kernel" || return
	done
}

kernel=$(basename "$(dirname "$(find "$root"/lib/modules/*/build -maxdepth 0 | head -n 1)")")
stand_in 580.95.05 'Dual MIT/GPL'
check 'the NVIDIA driver is installed after gdrdrv' inside apt-get install -y -qq /debs/stand-in.deb
check 'gdrdrv is built anew for it' is 580.95.05-open built_for
stand_in 590.44.01 NVIDIA
check 'another NVIDIA driver, of the other flavour' inside apt-get install -y -qq /debs/stand-in.deb
check 'gdrdrv follows it' is 590.44.01 built_for
check 'gdrdrv depends on it' is nvidia inside modinfo -k "$kernel" -F depends gdrdrv

# As after the installation of a kernel: DKMS builds all that is missing.
check 'neither is built' remove_both
check 'DKMS builds what is missing' inside dkms autoinstall -k "$kernel"
check 'both are built' installed gdrdrv
check 'gdrdrv is built after NVIDIA' is 590.44.01 built_for
check 'neither is built' remove_both
sed -i '1i #error broken' "$root/usr/src/nvidia-590.44.01/nvidia.c"
inside dkms autoinstall -k "$kernel" >"$root/tmp/log" 2>&1
! installed gdrdrv
result $? 'gdrdrv waits for an NVIDIA driver that does not build'
sed -i '1d' "$root/usr/src/nvidia-590.44.01/nvidia.c"
check 'NVIDIA builds again' inside dkms install nvidia/590.44.01 -k "$kernel"
check 'what the packages run then' inside /usr/libexec/gdrdrv/rebuild-for-nvidia
check 'gdrdrv is built for it' is 590.44.01 built_for
