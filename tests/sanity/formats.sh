#!/bin/sh
# SPDX-License-Identifier: MIT
# --json, --junit and --tap: well formed, and they say what the summary says.
# shellcheck source=/dev/null
. "${SRC:?}/../tools/check.sh"
PLANTED_DIR=$OUT
export PLANTED_DIR
command -v python3 >/dev/null || { echo 'no python3'; exit 77; }

check() { # FORMAT
	python3 "$SRC/formats.py" "$1" "$2" <"$OUT/stdout" || fail "$1 of $2"
}

tests='-t planted_pass -t planted_fail -t planted_waive -t more_note -t more_dies -t more_fail_stdout'
formats='junit tap json'
for format in $formats; do
	# shellcheck disable=SC2086
	expect 1 "${PLANTED:?}" --soft "--$format" $tests
	check "$format" planted
	# What a test prints does not get between.
	complained '^a table of differences$'
	# shellcheck disable=SC2086
	expect 1 "$PLANTED" --soft "--$format" -s $tests
	[ ! -s "$OUT/stdout" ] || fail "$format with -s"
	expect 0 "${SANITY:?}" --soft "--$format" -t 'basic_*'
	check "$format" basic
	# There is no such GPU, or no way to tell: also a document, of an error.
	for gpu in 5 GPU-736; do
		expect 1 env SOFTCUDA_DEVICES=2 "$SANITY" --soft "--$format" -d $gpu -t 'basic_*'
		check "$format" no_gpu
		complained "^ERROR: GPU $gpu: "
	done
	expect 1 env GDRCOPY_SOFTCUDA_LIB="${DYING_CUDA:?}" "$SANITY" --soft "--$format" -t 'basic_*'
	check "$format" killed
	complained '^WARNING: opening CUDA and the library: killed by SIGKILL'
	if [ -w /dev/full ]; then
		expect 1 sh -c '"$@" >/dev/full' sh "$PLANTED" --soft "--$format" -t planted_pass
		complained 'could not be written'
	fi
done

# Facts of several lines are one.
expect 1 env SOFTCUDA_DRIVER_VERSION=12000 "$SANITY" --soft --tap -t basic_cumemalloc
said '^# gdr_open: .*dmabuf: '
grep -Evq '^(TAP version 13$|1\.\.1$|# |not ok 1 - )' "$OUT/stdout" && fail "this is no TAP"
# For people stderr has it all.
expect 1 "$SANITY" --soft -d 5
[ ! -s "$OUT/stdout" ] || fail "a summary of no tests"
complained '^ERROR: GPU 5: there is 1 GPU, number 0$'
