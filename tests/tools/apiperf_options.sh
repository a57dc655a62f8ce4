#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line of gdrcopy_apiperf: help against its golden text and the man page, and what
# is refused.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
api=${TOOLS:?}/gdrcopy_apiperf

documented "$api" apiperf 30

# refused OPTION VALUE...: each of them, by its name.
refused() {
	option=$1
	shift
	for bad; do
		expect 1 "$api" --soft "--$option=$bad"
		complained "^ERROR: option (-., )?--$option: "
	done
}
refused iterations x -1 1K 0 10000001 ''
refused warmup x -1 ''
refused size x 0 1.5M 2048G
refused sizes '' 4, ,4 0 x
refused buffers -1 1000001
refused buffer-size 0 x
refused threads 1025 -1
refused first 0 10001
refused fresh -1 x
refused bins 0 101
refused max-time 0 86401
refused handles two ''
refused histogram map
refused alloc malloc
refused mapping uc
refused tolerance x -1
expect 1 "$api" --nonsense
complained '^ERROR: invalid option'
expect 1 "$api" stray
complained '^ERROR: unexpected argument "stray"'
expect 1 "$api" --soft --fit -s 64K
complained '^ERROR: --fit excludes -s'
expect 1 "$api" --soft --fit --max 1M
complained '^ERROR: --fit excludes -s'
expect 1 "$api" --soft -s 64K --sizes 128K
complained '^ERROR: size 131072 does not fit the buffer of 65536 bytes \(option -s\)$'
expect 1 "$api" --soft --csv --json
complained 'exclude each other'
expect 1 "$api" --soft -d 7
complained '^ERROR: '
