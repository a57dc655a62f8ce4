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
	if [ -w /dev/full ]; then
		expect 1 sh -c '"$@" >/dev/full' sh "$PLANTED" --soft "--$format" -t planted_pass
		complained 'could not be written'
	fi
done
