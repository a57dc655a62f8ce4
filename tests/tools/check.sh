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
