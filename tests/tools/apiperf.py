# SPDX-License-Identifier: MIT
"""Checks a CSV or JSON report on stdin against the file of --samples; see apiperf.sh.

apiperf.py csv|json SAMPLES SIZES N BUFFERS THREADS
"""
import csv
import json
import math
import statistics
import sys

CONTEXT = ["gdr_open", "gdr_get_attribute", "gdr_driver_get_version"]
BUFFER = ["gdr_pin_buffer", "gdr_pin_buffer_v2", "gdr_map_v2", "gdr_get_info", "gdr_get_info_v2",
          "gdr_get_callback_flag", "gdr_unmap", "gdr_unpin_buffer"]
LIFE = CONTEXT + BUFFER + ["gdr_close"]
KEYS = ("phase", "test", "size_bytes", "threads", "handles")


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)


def percentile(values, percent):
    return values[max(math.ceil(percent / 100 * len(values)), 1) - 1]


def check_statistics(row, values):
    values = sorted(values)
    assert row["samples"] == len(values), row
    for name, value in (("min_us", values[0]), ("median_us", values[len(values) // 2]),
                        ("p90_us", percentile(values, 90)), ("p99_us", percentile(values, 99)),
                        ("p999_us", percentile(values, 99.9)), ("max_us", values[-1]),
                        ("mean_us", statistics.fmean(values))):
        assert near(row[name], value), (name, value, row)
    if len(values) > 1:
        assert near(row["stddev_us"], statistics.stdev(values)), row
    assert row["baseline_us"] == (row["median_us"] if len(values) >= 20 else None), row


def check_histogram(row, values, bins):
    edges = [float(e) for e in row["histogram_edges_us"].split()]
    counts = [int(c) for c in str(row["histogram_counts"]).split()]
    assert len(counts) == bins and len(edges) == bins + 1, row
    assert edges == sorted(set(edges)), row
    assert sum(counts) == len(values), row
    for i, count in enumerate(counts):
        last = i == bins - 1
        inside = [v for v in values if edges[i] <= v and (v < edges[i + 1] or
                                                          last and v == edges[i + 1])]
        assert len(inside) == count, (i, row)


def read_samples(path):
    """The times of each measurement, in their order."""
    samples = {}
    with open(path, encoding="ascii") as f:
        for r in csv.DictReader(f):
            key = (r["phase"], r["call"], int(r["size_bytes"]), int(r["threads"]),
                   int(r["handles"]))
            samples.setdefault(key, []).append(float(r["us"]))
            assert int(r["index"]) == len(samples[key]) - 1, r
    return samples


def expected(sizes, buffers, threads):
    """Phases, calls and sizes of the rows; those of "many" come in groups."""
    rows = [(p, c, sizes[0], 1, 1) for p in ("first", "fresh") for c in LIFE]
    rows += [("warm", c, s, 1, 1) for s in sizes for c in BUFFER]
    rows += [("context", c, 0, 1, 1) for c in CONTEXT + ["gdr_close"]]
    many = [c for c in BUFFER if c != "gdr_pin_buffer_v2"]
    rows += [("many", c, 65536, 1, 1) for c in many for _ in range(min(buffers, 10))]
    for n in [1, 2, 4, 8]:
        if n <= threads:
            rows += [("threads", c, 65536, n, 1) for c in BUFFER]
        if 1 < n <= threads:
            rows += [("threads", c, 65536, n, n) for c in BUFFER]
    return rows


def check_many(rows, buffers):
    """The groups of a call follow each other, from none to all of the others."""
    for call in {r["test"] for r in rows}:
        groups = [(r["others_pinned_from"], r["others_pinned_to"]) for r in rows
                  if r["test"] == call]
        if call in ("gdr_unmap", "gdr_unpin_buffer"):
            groups.reverse()
        assert groups[0][0] == 0 and groups[-1][1] == buffers - 1, groups
        assert all(a[1] + 1 == b[0] for a, b in zip(groups, groups[1:])), groups


def check(rows, samples, sizes, n, buffers, threads):
    assert [tuple(r[k] for k in KEYS) for r in rows] == expected(sizes, buffers, threads), rows
    taken = {}
    for row in rows:
        key = tuple(row[k] for k in KEYS)
        values = samples[key]
        if row["phase"] == "many":
            at = taken.get(key, 0)
            taken[key] = at + row["samples"]
            values = values[at:taken[key]]
        elif row["phase"] in ("warm", "context"):
            assert len(values) == n, row
        elif row["phase"] == "threads":
            assert len(values) >= n * row["threads"] and row["cycles_per_s"] > 0, row
        check_statistics(row, values)
        check_histogram(row, values, 10)
        assert row["complete"] is True, row
    many = [r for r in rows if r["phase"] == "many"]
    check_many(many, buffers)
    assert all(taken[k] == len(samples[k]) == buffers for k in taken), taken


def value(name, text):
    if text in ("true", "false"):
        return text == "true"
    if name in ("phase", "test", "curves") or name.startswith("histogram"):
        return text
    return None if text == "" else float(text) if "." in text or "e" in text else int(text)


def main(form, path, sizes, *numbers):
    text = sys.stdin.read()
    if form == "csv":
        lines = [l for l in text.splitlines() if not l.startswith("#")]
        rows = [{k: value(k, v) for k, v in r.items()} for r in csv.DictReader(lines)]
    else:
        doc = json.loads(text)
        assert doc["tool"] == "gdrcopy_apiperf" and doc["exit_status"] == 0, doc
        assert doc["parameters"]["verify"] is True and doc["parameters"]["timer_us"] > 0, doc
        rows = doc["results"]
    check(rows, read_samples(path), [int(s) for s in sizes.split(",")],
          *(int(n) for n in numbers))


main(*sys.argv[1:])
