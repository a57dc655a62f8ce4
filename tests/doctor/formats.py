# SPDX-License-Identifier: MIT
"""Compares a report on stdin, json or csv, with the text form, a file.  See formats.sh."""
import csv
import json
import re
import sys

FIELDS = ["area", "finding", "gpu_ordinal", "level", "why", "fix"]
LEVELS = ("OK", "NOTE", "SKIP", "WARN", "FAIL")


def rows_of_text(lines):
    """(area, finding, level, why, fix) of each line; GPUs that share one are one."""
    rows, area = [], None
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        found = re.match(r"  ([A-Z]+) +(\S.{13}|\S.*?) (\S.*)$", line)
        if line.startswith("        "):
            rows[-1][4] = line.split("-> ", 1)[1]
        elif found and found[1] in LEVELS:
            why = re.sub(r"^GPU [0-9,]+: ", "", found[3])
            rows.append([area, found[2].strip(), found[1], why, None])
        elif not line[0].isdigit() and not line.startswith("GDRCopy "):
            area = line
    return rows


def speedless(text):
    return re.sub(r"reach [0-9]+ [GM]B/s", "reach N", text)


def main(form, status, path):
    status = int(status)
    with open(path, encoding="ascii") as f:
        lines = f.read().splitlines()
    if form == "json":
        doc = json.load(sys.stdin)
        assert doc["tool"] == "gdrcopy_doctor" and doc["exit_status"] == status, doc
        assert doc["provenance"]["kernel"] == "Linux 6.1.0-42-amd64 " + \
            doc["provenance"]["kernel"].split()[-1], doc
        summary = doc["summary"]
        assert summary["verdict"] == lines[-1], (summary, lines[-1])
        assert summary["works"] is (status == 0), summary
        assert summary["backend"] == ("dmabuf" if status == 0 else None), summary
        rows = doc["results"]
        assert summary["failures"] == sum(r["level"] == "FAIL" for r in rows), summary
        assert summary["warnings"] == sum(r["level"] == "WARN" for r in rows), summary
        assert summary["first_fix"] in [r["fix"] for r in rows if r["level"] == "FAIL"], summary
    else:
        text = sys.stdin.read().splitlines()
        assert "# verdict: " + lines[-1] in text, text
        rows = list(csv.DictReader(l for l in text if not l.startswith("#")))
        rows = [{k: v or None for k, v in r.items()} for r in rows]
    for r in rows:
        assert list(r) == FIELDS, r
        assert r["level"] in LEVELS and r["why"], r
        assert r["gpu_ordinal"] in (None, "0", "1", 0, 1), r
    got = []
    for r in rows:
        row = [r["area"], r["finding"], r["level"], speedless(r["why"]), r["fix"]]
        if row not in got:
            got.append(row)
    want = [[a, b, c, speedless(d), e] for a, b, c, d, e in rows_of_text(lines)]
    merged = []
    for row in want:
        if row not in merged:
            merged.append(row)
    assert got == merged, "\n".join(f"{a}\n{b}" for a, b in zip(got, merged) if a != b)


main(*sys.argv[1:])
