#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_copytune over softcuda: every routine, place and thread count has its figures.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
tune=${TOOLS:?}/gdrcopy_copytune

for h in -h --help; do
	expect 0 "$tune" $h
	silent
	diff -u "$SRC/copytune.help" "$OUT/stdout" || fail "copytune $h differs from copytune.help"
done
expect 0 "$tune" --version
said '^gdrcopy_copytune [0-9.]+ \(libgdrapi 2\.[0-9]+\)$'
sed -n 's/^  .*--\([a-z-]*\).*/\1/p' "$SRC/copytune.help" >"$OUT/names"
[ "$(wc -l <"$OUT/names")" -gt 10 ] || fail "no options in copytune.help"
while read -r o; do
	grep -q -- "--$o\*" "$SRC/../../man/gdrcopy_copytune.1.scd" ||
		fail "gdrcopy_copytune.1 does not have --$o"
done <"$OUT/names"

expect 0 "$tune" --soft --sizes 8,200,64K --threads 1,2 -t 1
silent
tail -n 1 "$OUT/stdout" | grep -q '^# SOFTCUDA' || fail "the last line does not warn"
count '^to the mapping, device offset' 3
count '^from the mapping, device offset' 3
count '^(to|from) the mapping, by so many threads' 2
# three sizes in each of the eight tables, each with a name or number at its end
count '^ *(8|200|65536)( +([0-9]+\.[0-9]{4}|-))+  [a-z0-9]+$' 24
count '^ *bytes .* generic  fastest$' 6

# What the library takes by itself is a column of its own.
expect 0 "$tune" --soft --sizes 64,64K --threads 0,2 --min-bytes 8K -t 1
silent
count '^ *bytes +default +2  fastest$' 2

# One routine a size, direction and place is the fastest.
expect 0 "$tune" --soft --sizes 64 --threads 1 -t 1 --csv
grep -v '^#' "$OUT/stdout" >"$OUT/rows"
mv "$OUT/rows" "$OUT/stdout"
said '^gpu,test,direction,size_bytes,device_offset,host_offset,routine,threads,median_us,gb_per_s,fastest$'
count ',generic,1,' 6
count ',true$' 8

expect 1 "$tune" --soft --sizes 0
complained sizes
expect 1 "$tune" --soft --threads 65
complained threads
expect 1 "$tune" --soft --min-bytes x
complained min-bytes
