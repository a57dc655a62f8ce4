#!/bin/sh
# SPDX-License-Identifier: MIT
# gdrcopy_copytune over softcuda: every routine, place and thread count has its figures.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
tune=${TOOLS:?}/gdrcopy_copytune

documented "$tune" copytune 10

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
complained '^ERROR: option --sizes: "0" is out of range'
expect 1 "$tune" --soft --threads 65
complained '^ERROR: option --threads: "65" is out of range, 0 to 64$'
expect 1 "$tune" --soft --min-bytes x
complained '^ERROR: option --min-bytes: "x" is not a size'
