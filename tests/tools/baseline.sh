#!/bin/sh
# SPDX-License-Identifier: MIT
# --baseline: equal, better and worse results, those that have no counterpart, exit status 3;
# and files that are no baseline.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

# altered PROGRAM: the report d, changed, as new.json.
altered() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))' "$OUT/old.json" "$OUT/new.json" "$1" || fail "$1"
}

# Figures of softcuda vary; factors that are far off any of that decide.
for t in copybw copylat copytune; do
	case $t in
	copytune) set -- "${TOOLS:?}/gdrcopy_$t" --soft --sizes 64 --threads 1 -t 1 ;;
	*) set -- "${TOOLS:?}/gdrcopy_$t" --soft --sizes 64,4K -w 100 -r 100 ;;
	esac
	case $t in
	copylat) value=median_us worse=1e-6 better=1e6 ;;
	copybw) value=mb_per_s worse=1e6 better=1e-6 ;;
	copytune) value=gb_per_s worse=1e6 better=1e-6 ;;
	esac
	expect 0 "$@" --json --output "$OUT/old.json"
	silent
	[ ! -s "$OUT/stdout" ] || fail "--output leaves something on stdout"
	rows=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["results"]))' \
		"$OUT/old.json")

	altered "for r in d['results']: r['$value'] *= $better"
	expect 0 "$@" --baseline "$OUT/new.json" --tolerance 50
	silent
	said "^# baseline: $rows results compared, 0 worse by more than 50 %; the least favourable is [0-9.]+ % better; 0 had no counterpart\$"

	# One figure was a million times better.
	altered "for r in d['results']: r['$value'] *= $better
d['results'][-1]['$value'] *= $worse / $better"
	tolerance=90
	[ $t = copylat ] && tolerance=10000
	expect 3 "$@" --baseline "$OUT/new.json" --tolerance $tolerance
	silent
	count "^# WORSE: .*, size_bytes [0-9]+.*: $value [0-9.e+-]+, was [0-9.e+-]+, by [0-9.e+]+ %\$" 1
	said "^# baseline: $rows results compared, 1 worse by more than $tolerance %"
	expect 3 "$@" --baseline "$OUT/new.json" --tolerance $tolerance --json
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
s = d["summary"]
assert d["exit_status"] == 3 and s["baseline_worse"] == 1, d
assert s["baseline_compared"] == len(d["results"]) and s["baseline_not_there"] == 0, s
assert s["baseline_worst_percent"] > s["baseline_tolerance_percent"], s
assert any(n.startswith("WORSE: ") for n in d["notes"]), d["notes"]
' "$OUT/stdout" 2>"$OUT/stderr" || fail "the report is not what it should be"

	# Another row of the baseline does not matter; one that is missing is counted.
	altered "for r in d['results']: r['$value'] *= $better
d['results'] = d['results'][1:] + [dict(d['results'][0], size_bytes=12345)]"
	expect 0 "$@" --baseline "$OUT/new.json" --tolerance 50
	said "^# baseline: $((rows - 1)) results compared, 0 worse .*; 1 had no counterpart\$"

	# The number of the GPU does not matter where there is one.
	altered "for r in d['results']: r['$value'] *= $better; r['gpu'] = 5"
	expect 0 "$@" --baseline "$OUT/new.json" --tolerance 50
	said "^# baseline: $rows results compared"

	altered "for r in d['results']: r['size_bytes'] += 1"
	expect 1 "$@" --baseline "$OUT/new.json"
	complained "^ERROR: baseline $OUT/new.json: none of this run's results is in it"
done

# With several GPUs each is compared with itself.
set -- "$TOOLS/gdrcopy_copylat" --soft --sizes 64 -w 100 -r 100
export SOFTCUDA_DEVICES=2
expect 0 "$@" -d all --json --output "$OUT/old.json"
altered 'for r in d["results"]: r["median_us"] *= 1e-6 if r["gpu"] == 1 else 1e6'
expect 3 "$@" -d all --baseline "$OUT/new.json" --tolerance 10000
count '^# WORSE: gpu 1, test gdr_copy_(to|from)_mapping, size_bytes 64: ' 2
count '^# WORSE: gpu 0' 0
expect 0 "$@" -d 0 --baseline "$OUT/new.json"
expect 3 "$@" -d 1 --baseline "$OUT/new.json" --tolerance 10000
unset SOFTCUDA_DEVICES

# Files that are none.  They are refused before anything is measured.
bad() { # PATTERN
	expect 1 "$TOOLS/gdrcopy_copylat" --soft --sizes 64 --baseline "$OUT/new.json"
	complained "^ERROR: baseline $OUT/new.json: $1"
	count '^gdr_copy' 0
}
altered 'd["tool"] = "gdrcopy_copybw"'
bad 'this is no report of gdrcopy_copylat --json$'
altered 'del d["results"]'
bad 'the report has no results$'
altered 'd["provenance"]["softcuda"] = False'
bad 'its figures are those of a GPU, and this runs on softcuda$'
altered 'd["results"] = 1'
bad 'the report has no results$'
head -c 500 "$OUT/old.json" >"$OUT/new.json"
bad 'no JSON at byte [0-9]+$'
: >"$OUT/new.json"
bad 'no JSON at byte 0$'
echo '[]' >"$OUT/new.json"
bad 'this is no report of'
rm "$OUT/new.json"
bad 'No such file or directory$'
mkdir "$OUT/new.json"
bad 'Is a directory$'

# The file that is compared with may be the one that is written.
rmdir "$OUT/new.json"
altered 'for r in d["results"]: r["median_us"] *= 1e6'
mv "$OUT/new.json" "$OUT/same.json"
expect 0 "$@" --json --baseline "$OUT/same.json" --output "$OUT/same.json"
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["summary"]["baseline_compared"] == 2 and len(d["results"]) == 2, d
' "$OUT/same.json" 2>"$OUT/stderr" || fail "the report is not what it should be"
# What was in the file before, and was longer, is gone.
head -c 100000 /dev/zero >"$OUT/same.json"
expect 0 "$@" --json --output "$OUT/same.json"
python3 -m json.tool "$OUT/same.json" >/dev/null 2>"$OUT/stderr" || fail "something was left"

# With nothing to compare it stays, and gets no report; also under another name.
cp "$OUT/same.json" "$OUT/kept.json"
ln -s same.json "$OUT/link.json"
export SOFTCUDA_FAIL='cuInit:*:999'
expect 1 "$@" --json --baseline "$OUT/same.json" --output "$OUT/link.json"
complained '^ERROR: cuInit: '
unset SOFTCUDA_FAIL
cmp "$OUT/same.json" "$OUT/kept.json" || fail "a baseline was lost that nothing was compared with"
head -c 500 "$OUT/kept.json" >"$OUT/same.json"
for form in --json --csv --no-affinity; do
	expect 1 "$@" $form --baseline "$OUT/same.json" --output "$OUT/link.json"
	complained "^ERROR: baseline $OUT/same.json: no JSON"
	head -c 500 "$OUT/kept.json" | cmp - "$OUT/same.json" || fail "what was refused is gone"
done
# Another file is written all the same.
expect 1 "$@" --json --baseline "$OUT/same.json" --output "$OUT/other.json"
grep -q '"exit_status": 1' "$OUT/other.json" || fail "no report of a baseline that was refused"

# A mismatch of the data is the worse news.
expect 1 env LD_PRELOAD="${SHIM:?}" SHIM_MODE=write SHIM_SIZE=64 "$@" --baseline "$OUT/old.json"
