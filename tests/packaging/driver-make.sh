#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver's Makefile, with the kernel's build, uname, modinfo and ls played: which
# kernel, which build directory and which source of NVIDIA's are taken, from which
# variables.
# shellcheck disable=SC2016 # what the commands expand when they run
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 n=0
real=$(command -v make)
src=$work/src
export calls=$work/calls real src
unset MAKEFLAGS KVER KDIR DESTDIR SIGN_KEY SIGN_CERT KBUILD_EXTRA_SYMBOLS
unset "${!NVIDIA_@}" "${!GDRDRV_@}"
mkdir -p "$work"/{bin,none,tree/kernel,named/include/generated} \
	"$src"/nvidia-{fs-900.1,560.1,590.1/nvidia} "$src"/nvidia-open-{570.1/kernel-open/nvidia,580.1}
touch "$work/tree/kernel"/{gdrdrv.ko,99-gdrdrv.rules,{60-,}gdrdrv.conf} "$src"/nvidia-560.1/nv-p2p.h \
	"$src"/nvidia-590.1/nvidia/nv-p2p.h "$src"/nvidia-open-570.1/kernel-open/nvidia/nv-p2p.h
echo '#define UTS_RELEASE "4.4.4-named"' >"$work/named/include/generated/utsrelease.h"
cp Makefile "$work/tree/"
# where it looks for sources, one that is there in any case
sed 's|/usr/src|$(src)|g' kernel/Makefile >"$work/tree/kernel/Makefile"

command_is() {
	printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
# A build directory is one that does not end in /tree or /kernel.
command_is make 'case " $* " in
	*" -C "*/tree\ *|*" -C kernel "*) exec -a make "$real" "$@" ;;
	*) echo "make $*" >>"$calls" ;;
	esac'
for c in install depmod; do command_is $c "echo \"$c \$*\" >>\"\$calls\""; done
command_is uname 'echo asked-uname >>"$calls"; echo 9.9.9-played'
command_is modinfo 'echo "asked-modinfo $2" >>"$calls"; [ -n "${version-}" ] && echo $version'
command_is ls 'echo asked-ls >>"$calls"; [ -z "${look-}" ] || exec /bin/ls "$@"; exit 1'

check() { # variables of the environment, what make is told, what must be called: patterns
	local vars=$1 args=$2 ok=1 want
	shift 2
	n=$((n + 1))
	: >"$calls"
	# shellcheck disable=SC2086 # a command line
	env PATH="$work/bin:$PATH" $vars make -C "$work/tree" $args >"$work/said" 2>&1 || ok=0
	for want; do
		if [[ $want = !* ]]; then ! grep -qE -- "${want#!}" "$calls"; else
			grep -qE -- "$want" "$calls"
		fi || { ok=0; echo "# wanted: $want"; }
	done
	for want in uname modinfo ls; do
		[ "$(grep -c "^asked-$want" "$calls")" -le 1 ] || { ok=0; echo "# $want is asked again"; }
	done
	if [ $ok = 1 ]; then echo "ok $n - ${vars:+${vars//"$work"\//} }make ${args//"$work"\//}"; else
		echo "not ok $n - $vars make $args"
		sed 's/^/# said: /' "$work/said"
		sed 's/^/# called: /' "$calls"
		bad=1
	fi
}
running=/lib/modules/9.9.9-played/build
builds() { echo "^make -C $1 .* M=$work/tree/kernel .*modules\$"; }
installs() { echo "^install .* ${2-}/lib/modules/$1/kernel/drivers/misc/gdrdrv.ko\$"; }

# The kernel, and its build directory.
for door in driver '-C kernel'; do
	check '' "$door" "$(builds $running)" '^asked-modinfo 9.9.9-played$'
	check '' "$door KVER= KDIR=" "$(builds $running)" '^asked-modinfo 9.9.9-played$'
	check 'KVER= KDIR=' "$door" "$(builds $running)" '^asked-modinfo 9.9.9-played$'
	check '' "$door KVER=1.2.3" "$(builds /lib/modules/1.2.3/build)" '^asked-modinfo 1.2.3$' \
		'!asked-uname'
	check KVER=1.2.3 "$door" "$(builds /lib/modules/1.2.3/build)" '^asked-modinfo 1.2.3$'
	check '' "$door KDIR=$work/named" "$(builds "$work/named")" \
		'^asked-modinfo 4.4.4-named$' '!asked-uname'
	check "KDIR=$work/named" "$door" "$(builds "$work/named")" '^asked-modinfo 4.4.4-named$'
	check "KDIR=$work/named" "$door KVER=" "$(builds "$work/named")" '^asked-modinfo 4.4.4-named$'
	check '' "$door KDIR=$work/none" "$(builds "$work/none")" '^asked-modinfo 9.9.9-played$'
	check '' "$door KVER=1.2.3 KDIR=$work/named" "$(builds "$work/named")" '^asked-modinfo 1.2.3$'
	check KVER=9 "$door KVER=1.2.3" "$(builds /lib/modules/1.2.3/build)" '^asked-modinfo 1.2.3$'
done
check '' '-C kernel clean' "^make -C $running M=$work/tree/kernel clean\$"
check '' '-C kernel install' "$(installs 9.9.9-played)" '^depmod -a 9.9.9-played$'
check '' '-C kernel install SIGN_KEY= SIGN_CERT=' "$(installs 9.9.9-played)"
check '' "-C kernel install KDIR=$work/named" "$(installs 4.4.4-named)" '^depmod -a 4.4.4-named$'
check '' 'drv_install' "$(installs 9.9.9-played)" \
	'^install .* 60-gdrdrv.conf /usr/lib/dracut/dracut.conf.d/60-gdrdrv.conf$'
check '' 'drv_install SIGN_KEY= DESTDIR=stage' "$(installs 9.9.9-played "$work/tree/stage")" \
	'!^depmod'

# Paths are those of the directory that make was called in; a key may be in a token.
check '' 'driver KDIR=../named' "$(builds "$work/named")"
check '' 'driver NVIDIA_SRC_DIR=../src/nvidia-590.1' " NVIDIA_P2P_DIR=$src/nvidia-590.1/nvidia "
check '' '-C kernel NVIDIA_SRC_DIR=../../src/nvidia-590.1' \
	" NVIDIA_P2P_DIR=$src/nvidia-590.1/nvidia "
# dash leaves the ~ of an argument to make
for door in driver '-C kernel'; do
	check "HOME=$work" "$door NVIDIA_SRC_DIR=~/src/nvidia-590.1" \
		" NVIDIA_P2P_DIR=$src/nvidia-590.1/nvidia "
done
mkdir -p "$work/named/scripts"
printf '#!/bin/sh\necho "sign-file $*" >>"$calls"\n' >"$work/named/scripts/sign-file"
chmod +x "$work/named/scripts/sign-file"
check '' 'drv_install KDIR=../named SIGN_KEY=a.priv SIGN_CERT=a.der' \
	"^sign-file sha256 $work/tree/a.priv $work/tree/a.der gdrdrv.ko\$" "$(installs 4.4.4-named)"
check '' 'drv_install KDIR=../named SIGN_KEY=pkcs11:object=a SIGN_CERT=a.der' \
	"^sign-file sha256 pkcs11:object=a $work/tree/a.der gdrdrv.ko\$"

export SIGN_KEY="$work/my keys/a.priv"
check '' 'drv_install KDIR=../named SIGN_CERT=a.der' \
	"^sign-file sha256 $work/my keys/a.priv $work/tree/a.der gdrdrv.ko\$"
unset SIGN_KEY

# The source of NVIDIA's: that of the module, else the newest that has the header.
check version=560.1 driver "$(builds $running)" " NVIDIA_P2P_DIR=$src/nvidia-560.1 "
check look=1 driver " NVIDIA_P2P_DIR=$src/nvidia-590.1/nvidia "
check 'look=1 version=570.1' driver " NVIDIA_P2P_DIR=$src/nvidia-open-570.1/kernel-open/nvidia "
check 'look=1 version=100.1' driver " NVIDIA_P2P_DIR=$src/nvidia-590.1/nvidia "
check 'look=1' 'driver NVIDIA_SRC_DIR=' ' NVIDIA_P2P_DIR= ' '!asked-ls'
# Without one the version tells the page table.
check version=575.9 'driver NVIDIA_SRC_DIR=' ' GDRDRV_P2P_TABLE=1 '
check version=580.2 'driver NVIDIA_SRC_DIR=' ' GDRDRV_P2P_TABLE=2 '
check version=580.2 'driver NVIDIA_SRC_DIR= GDRDRV_P2P_TABLE=1' ' GDRDRV_P2P_TABLE=1 '
check '' 'driver GDRDRV_P2P_TABLE= GDRDRV_OPEN_FLAVOUR=' \
	' GDRDRV_P2P_TABLE=2 ' ' GDRDRV_OPEN_FLAVOUR=y '

n=$((n + 1))
if ! PATH=$work/bin:$PATH make -C "$work/tree" driver NVIDIA_SRC_DIR="$work/none" \
	>"$work/said" 2>&1 &&
	grep -q "no nv-p2p.h in NVIDIA_SRC_DIR, $work/none" "$work/said"; then
	echo "ok $n - a source without nv-p2p.h is an error"
else
	echo "not ok $n - a source without nv-p2p.h is no error"
	bad=1
fi
[ $bad = 0 ]
