# SPDX-License-Identifier: MIT
"""Checks a CSV or JSON report of gdrcopy_pplat on stdin; pplat_options.sh made it."""
import csv
import json
import sys

PLANS = [(test, size, blocks)
         for test in ("cpu_produces", "gpu_produces")
         for size, blocks in ((0, 1), (64, 1), (64, 2), (4096, 1), (4096, 2))]


def check(row):
    assert row["samples"] == 20 and row["complete"] is True, row
    order = [row[k] for k in ("min_us", "median_us", "p90_us", "p99_us", "p999_us", "max_us")]
    assert order == sorted(order) and order[0] > 0, row
    assert row["min_us"] <= row["mean_us"] <= row["max_us"], row
    assert row["threads"] == (1024 if row["size_bytes"] else 1), row
    assert row["verified"] == (25 if row["size_bytes"] else 0), row
    assert row["mismatches"] == 0 and row["gpu"] == 0, row
    assert row["data"] == ("gpumem" if row["size_bytes"] else "none"), row


def value(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def main(form):
    text = sys.stdin.read()
    if form == "csv":
        data = list(csv.reader(l for l in text.splitlines() if not l.startswith("#")))
        rows = [dict(zip(data[0], map(value, r))) for r in data[1:]]
        for name in ("timeout_s", "verify_every", "warmup_iterations", "pcie_round_trip_median_us"):
            assert sum(l.startswith(f"# {name}: ") for l in text.splitlines()) == 1, name
    else:
        doc = json.loads(text)
        rows = doc["results"]
        assert doc["tool"] == "gdrcopy_pplat" and doc["exit_status"] == 0, doc
        assert doc["parameters"]["timeout_s"] == 10, doc["parameters"]
        assert doc["gpus"][0]["pcie_round_trip_median_us"] >= 0, doc["gpus"]
    assert [(r["test"], r["size_bytes"], r["blocks"]) for r in rows] == PLANS, rows
    for row in rows:
        check(row)


main(*sys.argv[1:])
