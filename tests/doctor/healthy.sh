# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced: healthy_root DIR makes the texts of a machine on which all is well, and
# whose GPU is at the address of softcuda's first device.

# The management library alone in a directory, for LD_LIBRARY_PATH.
NVML=$OUT/nvml
mkdir "$NVML"
cp "${NVML_LIBRARY:?}" "$NVML/libnvidia-ml.so.1"

# put PATH TEXT: a file below $root
put() {
	mkdir -p "$root/$(dirname "$1")"
	printf '%s\n' "$2" >"$root/$1"
}

healthy_root() {
	root=$1
	put proc/driver/nvidia/version 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder)
GCC version:  gcc version 13.3.0 (GCC)'
	put proc/driver/nvidia/gpus/5cda:01:00.0/information 'Model: 		 NVIDIA H200
GPU UUID: 	 GPU-00000000-0000-0000-0000-000000000000
Device Minor: 	 0'
	put proc/devices 'Character devices:
  1 mem
195 nvidia
195 nvidiactl
236 gdrdrv
238 nvidia-uvm

Block devices:
236 not-gdrdrv
  8 sd'
	put proc/modules 'gdrdrv 40960 0 - Live 0x0000000000000000 (OE)
nvidia_uvm 4087808 0 - Live 0x0000000000000000 (OE)
nvidia 60710912 2 gdrdrv,nvidia_uvm, Live 0x0000000000000000 (OE)'
	put proc/driver/gdrdrv/params 'Version: 2.6
Built for NVIDIA driver flavor: opensource
Use persistent mapping: yes
dbg_enabled: 0
info_enabled: 0'
	put proc/cmdline 'BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet'
	put proc/sys/kernel/osrelease 6.1.0-42-amd64
	put proc/self/status 'Name:	gdrcopy_doctor
Cpus_allowed_list:	0-15'
	put proc/1/cgroup '0::/init.scope'
	put lib/modules/6.1.0-42-amd64/modules.dep 'kernel/drivers/video/nvidia.ko.xz:
updates/dkms/gdrdrv.ko.xz: kernel/drivers/video/nvidia.ko.xz'
	put dev/nvidiactl 'c 195:255 666'
	put dev/nvidia0 'c 195:0 666'
	put dev/nvidia-uvm 'c 238:0 666'
	put dev/gdrdrv 'c 236:0 666'
	gpu=sys/bus/pci/devices/5cda:01:00.0
	put $gpu/vendor 0x10de
	put $gpu/device 0x2335
	put $gpu/class 0x030200
	put $gpu/resource '0x0000104002000000 0x0000104002ffffff 0x000000000014220c
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x0000100000000000 0x0000103fffffffff 0x000000000014220c
0x0000000000000000 0x0000000000000000 0x0000000000000000'
	put $gpu/current_link_speed '32.0 GT/s PCIe'
	put $gpu/max_link_speed '32.0 GT/s PCIe'
	put $gpu/current_link_width 16
	put $gpu/max_link_width 16
	put $gpu/numa_node 0
	put $gpu/iommu_group/type identity
	ln -s ../../../../bus/pci/drivers/nvidia "$root/$gpu/driver"
	put sys/bus/pci/devices/0000:00:00.0/vendor 0x8086
	put sys/bus/pci/devices/0000:00:00.0/class 0x060000
	put sys/devices/system/node/node0/cpulist 0-7
	put sys/devices/system/node/node1/cpulist 8-15
	mkdir -p "$root/usr/lib"
	cp "$LIBGDRAPI" "$root/usr/lib/libgdrapi.so.2.6"
	ln -s libgdrapi.so.2.6 "$root/usr/lib/libgdrapi.so.2"
	ln -s libgdrapi.so.2 "$root/usr/lib/libgdrapi.so"
}
