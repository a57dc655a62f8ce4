#!/bin/sh
# SPDX-License-Identifier: MIT
# --plot: pictures of the right size and kind with all curves; and what is said where there
# is no gnuplot, where it fails, or where there is nothing to draw.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
set -- "${TOOLS:?}/gdrcopy_copylat" --soft --sizes 4,64,1K,4K -w 10 -r 10 -c

# Without gnuplot, nothing is measured that could not be drawn.
mkdir "$OUT/bin"
expect 1 env PATH="$OUT/bin" "$@" --plot "$OUT/a.svg"
complained '^ERROR: option --plot: gnuplot is not installed; without it --csv writes'
count '^gdr_copy' 0
# One that does not do its work.
printf '#!/bin/sh\ncat >/dev/null\nexit 1\n' >"$OUT/bin/gnuplot"
chmod +x "$OUT/bin/gnuplot"
expect 1 env PATH="$OUT/bin:$PATH" "$@" --plot "$OUT/a.svg"
complained "^ERROR: option --plot: gnuplot did not draw $OUT/a.svg\$"
# One that ends before it has read its script; the picture of an earlier run does not pass for new.
echo old >"$OUT/a.svg"
printf '#!/bin/sh\nexit 0\n' >"$OUT/bin/gnuplot"
expect 1 env PATH="$OUT/bin:$PATH" "$@" --plot "$OUT/a.svg"
complained "gnuplot did not draw $OUT/a.svg\$"

# Where the picture could not be written, nothing is measured either.
mkdir "$OUT/dir.svg" "$OUT/closed"
printf '#!/bin/sh\nexit 1\n' >"$OUT/bin/gnuplot"
expect 1 env PATH="$OUT/bin:$PATH" "$@" --plot "$OUT/none/a.svg"
complained "^ERROR: option --plot: $OUT/none/a.svg: No such file or directory\$"
count '^gdr_copy' 0
expect 1 env PATH="$OUT/bin:$PATH" "$@" --plot "$OUT/dir.svg"
complained "^ERROR: option --plot: $OUT/dir.svg: Is a directory\$"
chmod 500 "$OUT/closed"
if ! [ -w "$OUT/closed" ]; then
	expect 1 env PATH="$OUT/bin:$PATH" "$@" --plot "$OUT/closed/a.svg"
	complained "^ERROR: option --plot: $OUT/closed/a.svg: Permission denied\$"
fi

command -v gnuplot >/dev/null || { echo 'no gnuplot'; exit 77; }
expect 0 "$@" --plot "$OUT/a curve's.svg"
silent
mv "$OUT/a curve's.svg" "$OUT/a.svg"
expect 0 "$TOOLS/gdrcopy_copybw" --soft --sizes 4,64,4K -w 10 -r 10 --cumemcpy --plot "$OUT/b.svg"
silent
export SOFTCUDA_DEVICES=2
expect 0 "$TOOLS/gdrcopy_copybw" --soft --sizes 4,64,4K -w 10 -r 10 -d all --plot "$OUT/c.svg" --csv
silent
unset SOFTCUDA_DEVICES
# In whatever locale.
expect 0 env LC_ALL=C "$@" --plot "$OUT/a.svg"
silent
# Where the caller ignores SIGCHLD: that gnuplot is well is known all the same.
expect 0 python3 "$SRC/no_sigchld.py" "$@" --plot "$OUT/s.svg"
silent
[ -s "$OUT/s.svg" ] || fail "no picture where SIGCHLD is ignored"
# What the script, or a shell, would take for a command is a name.
expect 0 env -C "$OUT" "$@" --plot '|touch run; : a.svg'
silent
[ -s "$OUT/|touch run; : a.svg" ] || fail "no picture with the name of a command"
[ ! -e "$OUT/run" ] || fail "a command was run"
expect 1 "$@" --plot "$OUT/two
lines.svg"
complained '^lines.svg: Invalid argument$'
count '^gdr_copy' 0
# Ctrl-C while gnuplot draws what has been measured, all of it: the picture is there.
# shellcheck disable=SC2016
printf '#!/bin/sh\nkill -s INT -- -$PPID\nexec %s\n' "$(command -v gnuplot)" >"$OUT/bin/gnuplot"
expect 0 setsid env PATH="$OUT/bin:$PATH" "$@" --plot "$OUT/i.svg"
silent
grep -q '</svg>' "$OUT/i.svg" || fail "the picture was interrupted"
# A single size, and one that is no power of two.
expect 0 "$TOOLS/gdrcopy_copybw" --soft --sizes 1000 -w 10 -r 10 --plot "$OUT/d.svg"
silent
expect 0 "$@" --plot "$OUT/a.png"
silent
python3 - "$OUT" <<'END' >"$OUT/stdout" 2>&1 || fail "the pictures are not what they should be"
import re, struct, sys, xml.etree.ElementTree as ET

def words(name):
    root = ET.parse(f"{sys.argv[1]}/{name}.svg").getroot()
    assert root.tag.endswith("svg")
    return ["".join(t.itertext()).strip() for t in root.iter("{http://www.w3.org/2000/svg}text")]

METHODS = ["gdr_copy", "gdrx_copy (threads)", "cuMemcpy (pinned)", "cuMemcpy (pageable)"]
a = words("a")
for text in METHODS + ["CPU copies to and from GPU memory", "CPU to GPU: time of a call",
                       "GPU to CPU: time of a call", "CPU to GPU: bandwidth",
                       "GPU to CPU: bandwidth"]:
    assert a.count(text) == 1, (text, a)
assert a.count("bytes of a copy") == 4 and a.count("GB/s") == 2, a
assert a.count("1K") == 4, a
assert any("softcuda" in w for w in a), a
# What is on axes of one name is drawn to one scale.
decades = [w for w in a if re.fullmatch(r"10*|0[.]0*1", w)]
assert decades and all(decades.count(w) % 2 == 0 for w in decades), a
b = words("b")
for text in METHODS + ["CPU to GPU", "GPU to CPU"]:
    assert b.count(text) == 1, (text, b)
c = words("c")
assert c.count("gdr_copy, GPU 0") == 1 and c.count("gdr_copy, GPU 1") == 1, c
assert "gdr_copy" not in c, c
assert words("d").count("gdr_copy") == 1
with open(f"{sys.argv[1]}/a.png", "rb") as f:
    head = f.read(24)
assert head[:8] == b"\x89PNG\r\n\x1a\n", head
width, height = struct.unpack(">II", head[16:24])
assert width >= 1600 and height >= 1000, (width, height)
END

# Interrupted before the first figure there is nothing to draw, and that is said.
interrupted INT 130 '^# INTERRUPTED' "$TOOLS/gdrcopy_copybw" --soft --warmup 1000000000000 \
	--plot "$OUT/e.svg"
complained '^ERROR: option --plot: there is nothing to draw$'
[ ! -e "$OUT/e.svg" ] || fail "an empty picture"
