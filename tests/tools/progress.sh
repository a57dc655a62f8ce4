#!/bin/sh
# SPDX-License-Identifier: MIT
# A progress line where stderr is a terminal, wiped out before a result; none elsewhere.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"

set -- "${TOOLS:?}/gdrcopy_copybw" --soft -s 1M -w 20000 -r 2000
expect 0 "$@"
silent
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
said 'gdr_copy_to_mapping, 1048576 bytes: +[0-9]+ %'
# The last thing is the wiping.
said 'r.x1b.K.$'
