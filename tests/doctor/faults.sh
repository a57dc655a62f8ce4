#!/bin/sh
# SPDX-License-Identifier: MIT
# faults.sh GROUP [NAME]: each fault of faults_GROUP.txt, provoked on a machine that is
# healthy otherwise: the lines that its report then has and the healthy one's has not,
# against faults_GROUP.out.  With NAME: print those of faults whose names start so.
# UPDATE=1 writes the .out files.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
# shellcheck source=/dev/null
. "$SRC/healthy.sh"

group=${1:?}
root=$OUT/root
only=${2:-}

# From meson: softcuda's directory, and the stand-ins.
SOFT=${SOFT:?}
export OLD_LIBRARY
# A kernel module's version in the name of the library, as NVIDIA's has it.
OTHER=$OUT/other COMPAT=$OUT/compat STUBS=$OUT/stubs BAD=$OUT/bad
mkdir "$OTHER" "$COMPAT" "$STUBS" "$BAD"
cp "${BAD_CUDA:?}" "$BAD/libcuda.so.1"
cp "$SOFT/libcuda.so.1" "$OTHER/libcuda.so.575.57.08"
ln -s libcuda.so.575.57.08 "$OTHER/libcuda.so.1"
cp -a "$OTHER"/* "$COMPAT"
cp "$SOFT/libcuda.so.1" "$STUBS/libcuda.so.1"

# cache DIR: the linker's cache of a directory of the root, which it takes for the machine's.
cache() {
	mkdir -p "$root/etc"
	echo "$root/$1" >"$OUT/conf"
	PATH=$PATH:/sbin:/usr/sbin ldconfig -X -C "$OUT/cache" -f "$OUT/conf"
	sed "s|$root|$(printf '%*s' ${#root} '' | tr ' ' /)|g" "$OUT/cache" >"$root/etc/ld.so.cache"
}

# report ENVIRONMENT...: the doctor's report without what differs from run to run.
report() {
	limit=true
	for v; do
		case $v in
		ARGS=*) args=${v#ARGS=} ;;
		LIMIT=*) limit="ulimit ${v#LIMIT=}" ;;
		esac
	done
	(
		$limit
		env -i PATH="$PATH" ASAN_OPTIONS="$ASAN_OPTIONS" UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1}" \
			LSAN_OPTIONS="$LSAN_OPTIONS" LD_PRELOAD="${SHIM:?}" \
			LD_LIBRARY_PATH="$SOFT:$NVML" "$@" "${DOCTOR:?}" --root "$root" \
			${args:+"$args"} >"$OUT/stdout" 2>"$OUT/stderr"
		echo "exit status $?" >>"$OUT/stdout"
	)
	args=
	[ ! -s "$OUT/stderr" ] || fail "$name: stderr is not empty"
	sed -e '/^# /d' -e 's/reach [0-9.]* [GM]B\/s/reach N GB\/s/' -e "s|$SOFT|SOFT|g" \
		-e "s|$OUT|OUT|g" -e 's|////*|/|g' -e 's/at 0x[0-9a-f]*/at ADDRESS/' "$OUT/stdout"
}

# compare NAME WHY: with the golden file.
compare() {
	[ -z "$UPDATE" ] || cp "$OUT/$1" "$SRC/$1.out"
	diff -u "$SRC/$1.out" "$OUT/$1" || fail "$2"
}

name=healthy
healthy_root "$root"
report >"$OUT/healthy"
compare healthy "the healthy machine's report is not healthy.out"

grep -v '^#' "$SRC/faults_$group.txt" | grep -E "^${only:-.}" >"$OUT/table"
while IFS='|' read -r name variables commands; do
	name=${name%% *}
	rm -rf "$root"
	healthy_root "$root"
	( cd "$root" && eval "$commands" ) || fail "$name: the fault cannot be made"
	eval "set -- $variables"
	report "$@" >"$OUT/fault"
	echo "== $name"
	diff "$OUT/healthy" "$OUT/fault" | sed -n 's/^> //p' | grep -Ev '^[0-9]+ OK, '
done <"$OUT/table" >"$OUT/faults"
mv "$OUT/faults" "$OUT/faults_$group"
if [ -n "$only" ]; then
	cat "$OUT/faults_$group"
	exit 0
fi
# A fault that changes nothing was not found; but for those whose names say so.
awk '/^== / && last ~ /^== / { print last } { last = $0 } END { if (last ~ /^== /) print last }' \
	"$OUT/faults_$group" | grep -v _harmless >"$OUT/silent" && fail "not found: $(cat "$OUT/silent")"
compare "faults_$group" "the findings differ from faults_$group.out"
