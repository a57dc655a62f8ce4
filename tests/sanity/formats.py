# SPDX-License-Identifier: MIT
"""Checks what a run of tests printed on stdin: format, then which run (formats.sh)."""
import json
import re
import sys
import xml.etree.ElementTree as ET

WAIVED = 'this "is" <the> reason & no other'
PLANTED = {"planted_pass": "passed", "planted_fail": "failed", "planted_waive": "waived",
           "more_note": "passed", "more_dies": "failed", "more_fail_stdout": "failed"}


def from_json(text):
    d = json.loads(text)
    assert d["schema"] == 1 and d["tool"] == "gdrcopy_sanity" and not d["interrupted"], d
    assert d["provenance"]["backend"] == "dmabuf", d["provenance"]
    assert any("SOFTCUDA" in n for n in d["notes"]), d["notes"]
    rows = d["results"]
    for r in rows:
        assert list(r) == ["test", "result", "reason", "note", "round", "seconds"], r
        assert (r["result"] == "passed") == (r["reason"] is None), r
        assert r["seconds"] > 0 and r["round"] == 1, r
    s = d["summary"]
    for result in ("passed", "failed", "waived"):
        assert s[result] == sum(r["result"] == result for r in rows), s
    assert s["total"] == len(rows) and s["seconds"] > 0, s
    assert d["exit_status"] == (1 if s["failed"] else 0), d
    return [(r["test"], r["result"], r["reason"] or r["note"] or "") for r in rows]


def from_junit(text):
    suite = ET.fromstring(text)
    assert suite.tag == "testsuite" and suite.get("name") == "gdrcopy_sanity"
    props = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert props["backend"] == "dmabuf", props
    out = []
    for case in suite.iter("testcase"):
        assert float(case.get("time")) >= 0
        failure, skipped = case.find("failure"), case.find("skipped")
        said = case.find("system-out")
        if failure is not None:
            out.append((case.get("name"), "failed", failure.get("message")))
        elif skipped is not None:
            out.append((case.get("name"), "waived", skipped.get("message")))
        else:
            out.append((case.get("name"), "passed", said.text if said is not None else ""))
    count = [sum(o[1] == r for o in out) for r in ("failed", "waived")]
    assert [int(suite.get(a)) for a in ("tests", "failures", "skipped")] == [len(out)] + count
    return out


def from_tap(text):
    lines = text.splitlines()
    assert lines[0] == "TAP version 13"
    plan = int(re.fullmatch(r"1\.\.(\d+)", lines[1]).group(1))
    assert "# backend: dmabuf" in lines
    out = []
    for line in lines[2:]:
        if line.startswith("# ") and out and not re.fullmatch(r"# [\d.]+ s", line):
            out[-1] = out[-1][:2] + (line[2:],)
        m = re.fullmatch(r"(not )?ok (\d+) - (\S+)( # SKIP (.*))?", line)
        assert m or line.startswith("# "), line
        if m:
            assert int(m.group(2)) == len(out) + 1, line
            result = "failed" if m.group(1) else "waived" if m.group(4) else "passed"
            out.append((m.group(3), result, m.group(5) or ""))
    assert plan == len(out)
    return out


def no_test(form, text, why):
    """Why nothing was run, where a reader of the format looks for it."""
    if form == "json":
        d = json.loads(text)
        assert d["results"] == [] and d["summary"]["total"] == 0 and d["exit_status"] == 1, d
        assert re.search(why, d["provenance"]["no_gpu"]), d["provenance"]
        assert any(re.match("ERROR: no test was run: .*" + why, n) for n in d["notes"]), d
    elif form == "junit":
        suite = ET.fromstring(text)
        case, = suite.iter("testcase")
        assert suite.get("tests") == suite.get("errors") == "1" == str(len(case)), text
        assert suite.get("failures") == suite.get("skipped") == "0", text
        assert re.search(why, case.find("error").get("message")), text
    else:
        lines = text.splitlines()
        assert lines[0] == "TAP version 13" and lines[1].startswith("1.."), lines
        assert re.match("Bail out! .*" + why, lines[-1]), lines
        assert all(line.startswith("# ") for line in lines[2:-1]), lines


def main():
    if sys.argv[2] in ("no_gpu", "killed"):
        return no_test(sys.argv[1], sys.stdin.read(),
                       "2 GPUs" if sys.argv[2] == "no_gpu" else "killed by SIGKILL")
    run = {"json": from_json, "junit": from_junit, "tap": from_tap}[sys.argv[1]](sys.stdin.read())
    if sys.argv[2] == "basic":
        assert len(run) == 11 and all(r[0].startswith("basic_") for r in run), run
        assert all(r[1] != "failed" for r in run), run
        return
    assert {r[0]: r[1] for r in run} == PLANTED and len(run) == len(PLANTED), run
    reasons = {r[0]: r[2] for r in run}
    assert reasons["planted_waive"] == WAIVED, reasons
    assert "SIGABRT" in reasons["more_dies"], reasons
    assert "planted.c:" in reasons["planted_fail"], reasons
    assert reasons["more_note"] == "first note; second & <last> note", reasons


main()
