#!/bin/sh
# SPDX-License-Identifier: MIT
# Wrong data and failing calls, brought about by a library in front of
# libgdrapi, are found, told, and end in exit status 1.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

# spoil MODE SIZE STATUS COMMAND...
spoil() {
	mode=$1 size=$2 status=$3
	shift 3
	expect "$status" env LD_PRELOAD="${SHIM:?}" SHIM_MODE="$mode" SHIM_SIZE="$size" "$@"
}

for t in copybw copylat; do
	set -- "${TOOLS:?}/gdrcopy_$t" --soft --sizes 1,64,8195 -w 3 -r 3
	expect 0 "$@"

	spoil write 8195 1 "$@"
	complained '^ERROR: data mismatch: write, seen by cuMemcpyDtoH of 8195 bytes: 1 words differ$'
	complained '^ERROR: data mismatch: write, seen by gdr_copy_from_mapping of 8195 bytes: 1 words'
	said '^ +word +content +expected$'
	said '^ +1024  '
	said '^# DATA MISMATCH: [0-9]+ checks failed$'
	said '^closing gdrdrv$'

	# The byte that is no whole word, and a single one.
	spoil last 8195 1 "$@"
	complained 'write, seen by cuMemcpyDtoH of 8195 bytes: 1 words differ$'
	complained 'write, last bytes seen by plain loads of 8195 bytes: 1 words differ$'
	spoil write 64 1 "$@"
	complained 'write, first bytes seen by plain loads of 64 bytes: 1 words differ$'
	spoil write 1 1 "$@"
	complained 'write, seen by cuMemcpyDtoH of 1 bytes: 1 words differ$'

	spoil read 64 1 "$@"
	complained '^ERROR: data mismatch: read by gdr_copy_from_mapping of 64 bytes: 1 words differ$'

	# Not of a size that is measured, and not looked at.
	spoil write 32 0 "$@"
	spoil write 64 0 "$@" --no-verify
	spoil read 64 0 "$@" --no-verify

	# The table of differences does not get into CSV and JSON.
	spoil write 64 1 "$@" --csv
	complained '^ +word +content +expected$'
	count '^ +word' 0

	spoil failwrite 64 1 "$@"
	complained '^ERROR: gdr_copy_to_mapping: Input/output error \(5\)'
	spoil failread 64 1 "$@"
	complained '^ERROR: gdr_copy_from_mapping: Input/output error \(5\)'
	# In the middle of the timed calls.
	export SHIM_SKIP=2
	spoil failwrite 64 1 "$@" --no-verify
	complained '^ERROR: gdr_copy_to_mapping: Input/output error \(5\)'
	spoil failread 64 1 "$@" --no-verify
	complained '^ERROR: gdr_copy_from_mapping: Input/output error \(5\)'
	unset SHIM_SKIP
done
