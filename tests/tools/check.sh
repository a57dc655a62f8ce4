# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by the tests of this directory.  From meson: TOOLS, the directory of
# the programs; SRC, this directory; SHIM, the library of shim.c; OLD, the
# directory of an old driver; BUILD, BINDIR, LIBDIR; JSON, yes or no.

OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
# meson names the directories of all libraries; the programs find theirs by themselves.
unset LD_LIBRARY_PATH GDRCOPY_SOFTCUDA GDRCOPY_SOFTCUDA_LIB GDRCOPY_BACKEND
# A preloaded shim comes before the runtime of a sanitizer.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
export ASAN_OPTIONS

fail() {
	echo "FAIL: $*" >&2
	for f in "$OUT"/stdout "$OUT"/stderr; do
		[ -f "$f" ] && { echo "--- $f"; head -c 4000 "$f"; } >&2
	done
	exit 1
}

# expect STATUS COMMAND...: run it, keep its output in $OUT, compare its status.
expect() {
	want=$1
	shift
	"$@" >"$OUT/stdout" 2>"$OUT/stderr"
	got=$?
	[ "$got" -eq "$want" ] || fail "$*: exit status $got, expected $want"
}

# said PATTERN, complained PATTERN: a line of stdout, of stderr.
said() {
	grep -Eq -- "$1" "$OUT/stdout" || fail "stdout has no line like: $1"
}

complained() {
	grep -Eq -- "$1" "$OUT/stderr" || fail "stderr has no line like: $1"
}

silent() {
	[ ! -s "$OUT/stderr" ] || fail "stderr is not empty"
}

# count PATTERN N: so many lines of stdout match.
count() {
	n=$(grep -Ec -- "$1" "$OUT/stdout")
	[ "$n" -eq "$2" ] || fail "$n lines like: $1, expected $2"
}

# interrupted SIGNAL STATUS PATTERN COMMAND...: more work than could be done; the signal comes
# after a second, and twice at once, as timeout sends it to the process and its group.  Later,
# if by then the command was not yet at what makes it say PATTERN: the machine is busy.
interrupted() {
	signal=$1 status=$2 pattern=$3
	shift 3
	for delay in 1 4 16; do
		expect "$status" timeout --preserve-status -k 60 -s "$signal" $delay "$@"
		grep -Eq -- "$pattern" "$OUT/stdout" && return
	done
	said "$pattern"
}

# documented PROGRAM NAME N: its help is NAME.help, has more than N options, and the manual
# page has them all; and it tells its version.
documented() {
	for form in -h --help; do
		expect 0 "$1" $form
		silent
		diff -u "$SRC/$2.help" "$OUT/stdout" || fail "$2 $form differs from $2.help"
	done
	sed -n 's/^  .*--\([a-z-]*\).*/\1/p' "$SRC/$2.help" >"$OUT/names"
	[ "$(wc -l <"$OUT/names")" -gt "$3" ] || fail "no options in $2.help"
	while read -r option; do
		grep -q -- "--$option\*" "$SRC/../../man/gdrcopy_$2.1.scd" ||
			fail "gdrcopy_$2.1 does not have --$option"
	done <"$OUT/names"
	expect 0 "$1" --version
	said "^gdrcopy_$2 [0-9.]+ \\(libgdrapi 2\\.[0-9]+\\)\$"
}
