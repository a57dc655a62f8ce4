# SPDX-License-Identifier: MIT
# SIGINT while the tool waits in write(2) for whoever reads its output.
#   slow_reader.py patient TOOL ARGS...   reads on after the signal: the report is whole
#   slow_reader.py stuck TOOL ARGS...     never reads on: further signals end the tool
# ARGS ask for --csv, and for more than a few rows.  The pipe holds one write.
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time

F_SETPIPE_SZ = 1031


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def wait_for_full(tool, pipe):
    """Until the tool sleeps, again and again, and nothing more fits into the pipe."""
    looks = before = 0
    while looks < 10:
        assert tool.poll() is None, "the tool ended early"
        now = unread(pipe)
        sleeps = state(tool.pid) == "S" and now == before and now > 0
        looks = looks + 1 if sleeps else 0
        before = now
        time.sleep(0.05)


def read_all(pipe):
    data = b""
    while more := os.read(pipe, 65536):
        data += more
    return data


def check_report(csv):
    lines = csv.splitlines()
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    assert csv.endswith("\n") and "# INTERRUPTED: these are partial results." in lines, lines
    assert len(rows) > 2, rows
    assert all(len(row) == len(rows[0]) and row[-1] in ("true", "false") for row in rows[1:]), rows


def main(how, *command):
    # Of one slot, and each write takes one, however short it is.
    pipe, end = os.pipe2(os.O_DIRECT | os.O_CLOEXEC)
    fcntl.fcntl(end, F_SETPIPE_SZ, 1)
    with subprocess.Popen(command, stdout=end, stderr=subprocess.PIPE) as tool:
        os.close(end)
        # Signals are caught from before the first row on.
        data = b""
        while b"\ngpu," not in data:
            more = os.read(pipe, 65536)
            assert more, (data, tool.stderr.read())
            data += more
        wait_for_full(tool, pipe)
        tool.send_signal(signal.SIGINT)
        if how == "patient":
            time.sleep(0.2)
            data += read_all(pipe)
        while how == "stuck" and tool.poll() is None:
            time.sleep(1.2)
            tool.send_signal(signal.SIGINT)
        complaints = tool.stderr.read()
    assert not complaints, complaints
    want = -signal.SIGINT if how == "stuck" else 128 + signal.SIGINT
    assert tool.returncode == want, (tool.returncode, want)
    if how == "patient":
        check_report(data.decode())


main(*sys.argv[1:])
