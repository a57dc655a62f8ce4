#!/bin/sh
# SPDX-License-Identifier: MIT
# A progress line where stderr is a terminal that can wipe it out before a result; none elsewhere.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

# on_terminal COMMAND...: what it prints on a terminal, as Python writes it.
on_terminal() {
	expect 0 python3 -c '
import os, pty, subprocess, sys
main, side = pty.openpty()
p = subprocess.Popen(sys.argv[1:], stderr=side, stdout=subprocess.DEVNULL)
os.close(side)
text = b""
try:
    chunk = b"first"
    while chunk:
        chunk = os.read(main, 4096)
        text += chunk
except OSError:
    pass
p.wait()
sys.stdout.write(repr(text.decode()))
sys.exit(p.returncode)
' "$@"
}

# Three times what it takes until the line is there.
set -- "${TOOLS:?}/gdrcopy_copybw" --soft -s 1M -w 100 -r 100 --min-time 600
expect 0 "$@"
silent
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	echo 'skipped the rest: no pseudo-terminals'
	exit 77
fi
on_terminal env TERM=xterm "$@"
said 'gdr_copy_to_mapping, 1048576 bytes: +[0-9]+ %'
# The last thing is the wiping.
said 'r.x1b.K.$'
on_terminal env TERM=dumb "$@"
said "^''\$"
on_terminal env -u TERM "$@"
said "^''\$"

set -- "$TOOLS/gdrcopy_sanity" --soft -t basic_cumemalloc -t basic_with_tokens
expect 0 "$@"
silent
on_terminal env TERM=xterm "$@"
said '1 of 2: basic_cumemalloc.x1b.K.*2 of 2: basic_with_tokens'
said 'r.x1b.K.$'
