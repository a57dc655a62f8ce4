#!/bin/sh
# SPDX-License-Identifier: MIT
# --json, --csv and --quiet tell what the text tells; --soft, on whatever machine this is.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
# shellcheck source=/dev/null
. "$SRC/healthy.sh"

run() {
	want=$1
	shift
	expect "$want" env -i PATH="$PATH" ASAN_OPTIONS="$ASAN_OPTIONS" \
		UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1}" LD_PRELOAD="${SHIM:?}" \
		LD_LIBRARY_PATH="${SOFT:?}:$NVML" "$@"
	silent
}

healthy_root "$OUT/root"
rm "$OUT/root/usr/lib/libgdrapi.so"
set -- "${DOCTOR:?}" --root "$OUT/root"
for status in 0 1; do
	version=$([ $status = 0 ] && echo 13030 || echo 13000)
	run $status SOFTCUDA_DEVICES=2 SOFTCUDA_DRIVER_VERSION="$version" "$@"
	mv "$OUT/stdout" "$OUT/text"
	for form in json csv; do
		run $status SOFTCUDA_DEVICES=2 SOFTCUDA_DRIVER_VERSION="$version" "$@" --$form
		python3 "$SRC/formats.py" $form $status "$OUT/text" <"$OUT/stdout" \
			>"$OUT/python" 2>&1 || fail "$(cat "$OUT/python")"
		[ $form = csv ] || python3 "$SRC/../tools/schema.py" \
			"$SRC/../../docs/report.schema.json" "$OUT/stdout" ||
			fail "the report is not as the schema says"
	done
done

# Two GPUs that are alike share a line; one chosen is alone.
run 0 SOFTCUDA_DEVICES=2 "$@"
said '^  OK    dmabuf         GPU 0,1: pinned, mapped'
run 0 SOFTCUDA_DEVICES=2 "$@" -d 1
said '^  OK    dmabuf         pinned, mapped'

# Quiet: what is wrong, and the verdict.
run 0 "$@" -q
[ "$(grep -Ec '^  (OK|NOTE|SKIP) ' "$OUT/stdout")" -eq 0 ] || fail "-q prints what is right"
count '^  FAIL  libgdrapi.so ' 1
count '^        +-> sudo ln -s libgdrapi.so.2 /usr/lib/libgdrapi.so && sudo ldconfig$' 1
said '^GDRCopy works here through dmabuf, on softcuda: host memory, no GPU. Still to mend: only '

# On this machine itself.
expect 0 env GDRCOPY_SOFTCUDA_LIB="$SOFT/libcuda.so.1" "$DOCTOR" --soft
silent
said '^GDRCopy works here through dmabuf, on softcuda: host memory, no GPU\.'
expect 1 env GDRCOPY_SOFTCUDA=1 GDRCOPY_SOFTCUDA_LIB=/nonexistent "$DOCTOR"
silent
said '^  FAIL  library        softcuda: GDRCOPY_SOFTCUDA_LIB=/nonexistent: No such file'
said '^GDRCopy does not work here: softcuda: '
