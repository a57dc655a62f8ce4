# SPDX-License-Identifier: MIT
"""Checks a CSV or JSON report on stdin; arguments are given by formats.sh."""
import csv
import json
import math
import os
import sys

COPYBW = ("gpu test direction method size_bytes offset_bytes threads thread bidirectional "
          "iterations elapsed_us mb_per_s gib_per_s best_mb_per_s median_mb_per_s "
          "worst_mb_per_s spread_percent samples min_us median_us p90_us p99_us p999_us max_us "
          "mean_us ci95_us stddev_us outliers complete").split()
COPYLAT = ("gpu test direction method size_bytes iterations rounds samples min_us median_us "
           "p90_us p99_us p999_us max_us mean_us ci95_us stddev_us outliers spread_percent "
           "gb_per_s complete").split()
STRINGS = ("test", "direction", "method", "thread")
FACTS = "tool command date host kernel cpu_model nvidia_driver cuda_driver libcuda libgdrapi".split()
GPU_FACTS = ("gpu gpu_uuid gpu_pci cpus cpus_chosen backend gdr_driver mapping_type "
             "copy_routine_to_mapping copy_routine_from_mapping").split()
NUMBERS = "gpu_ordinal running_on_cpu running_on_numa_node".split()


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-6)


def check_copybw(row, writes, reads, offset):
    n = writes if row["test"] == "gdr_copy_to_mapping" else reads
    assert row["iterations"] == n and row["offset_bytes"] == offset, row
    assert near(row["mb_per_s"], row["size_bytes"] * n / row["elapsed_us"]), row
    assert near(row["gib_per_s"] * 2**30, row["mb_per_s"] * 1e6), row
    assert row["worst_mb_per_s"] <= row["median_mb_per_s"] <= row["best_mb_per_s"], row
    assert 0 < row["worst_mb_per_s"] <= row["mb_per_s"] * 1.000001, row
    assert near(row["best_mb_per_s"], row["size_bytes"] / row["min_us"]), row
    assert near(row["worst_mb_per_s"], row["size_bytes"] / row["max_us"]), row
    assert row["median_us"] <= row["p90_us"] <= row["p99_us"] <= row["p999_us"] <= row["max_us"], row
    assert 0 < row["samples"] <= 100, row


def check_copylat(row, writes, reads):
    n = writes if row["direction"] == "to" else reads
    assert row["iterations"] == n and row["samples"] == min(n, 100), row
    assert near(row["gb_per_s"], row["size_bytes"] / row["median_us"] * 1e-3), row
    assert 0 < row["min_us"] <= row["median_us"] <= row["p90_us"] <= row["p99_us"], row
    assert row["p99_us"] <= row["p999_us"] <= row["max_us"], row
    assert row["min_us"] <= row["mean_us"] * 1.000001, row
    assert row["stddev_us"] >= 0, row


def check_rows(rows, tool, sizes, numbers):
    if tool == "copybw":
        tests = [(t, s) for s in sizes for t in ("gdr_copy_to_mapping", "gdr_copy_from_mapping")]
    else:
        tests = [(t, s) for t in ("cuMemcpy_H2D", "cuMemcpy_D2H", "cuMemcpy_H2D_pageable",
                                  "cuMemcpy_D2H_pageable", "gdr_copy_to_mapping",
                                  "gdr_copy_from_mapping", "gdrx_copy_to_mapping",
                                  "gdrx_copy_from_mapping") for s in sizes]
    assert [(r["test"], r["size_bytes"]) for r in rows] == tests, rows
    for row in rows:
        assert list(row) == (COPYBW if tool == "copybw" else COPYLAT), row
        assert row["complete"] is True, row
        (check_copybw if tool == "copybw" else check_copylat)(row, *numbers)


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


def read_csv(lines):
    facts = [l for l in lines if l.startswith("#")]
    data = list(csv.reader(l for l in lines if not l.startswith("#")))
    assert all(len(r) == len(data[0]) for r in data), data
    assert any(l.startswith("# SOFTCUDA") for l in facts), facts
    for name in FACTS + GPU_FACTS + NUMBERS:
        assert sum(l.startswith(f"# {name}: ") for l in facts) == 1, name
    rows = []
    for r in data[1:]:
        row = dict(zip(data[0], r))
        row = {k: v if k in STRINGS else {"true": True, "false": False}.get(v, v)
               for k, v in row.items()}
        rows.append({k: number(v) if isinstance(v, str) and k not in STRINGS else v
                     for k, v in row.items()})
    return rows


def read_json(text, status, interrupted):
    doc = json.loads(text)
    assert doc["schema"] == 1 and doc["tool"].startswith("gdrcopy_"), doc
    assert doc["exit_status"] == status and doc["interrupted"] is interrupted, doc
    assert any(n.startswith("SOFTCUDA") for n in doc["notes"]), doc
    return doc


def main(kind, *rest):
    text = sys.stdin.read()
    if kind in ("error", "interrupted"):
        doc = read_json(text, int(rest[0]), kind == "interrupted")
        if kind == "interrupted":
            assert doc["results"][-1]["complete"] is False, doc
        return
    tool, sizes, *numbers = rest
    numbers = [int(n) for n in numbers]
    if kind == "csv":
        rows = read_csv(text.splitlines())
    else:
        doc = read_json(text, 0, False)
        rows = doc["results"]
        for name in FACTS:
            assert isinstance(doc["provenance"][name], str) and doc["provenance"][name], name
        assert doc["provenance"]["softcuda"] is True, doc
        assert 0 < doc["provenance"]["clock_cost_us"] < 100, doc
        [gpu] = doc["gpus"]
        for name in GPU_FACTS:
            assert isinstance(gpu[name], str) and gpu[name], name
        for name in NUMBERS:
            if name != "running_on_numa_node" or os.path.exists("/sys/devices/system/node"):
                assert isinstance(gpu[name], int), name
        assert gpu["gpu_numa_node"] is None, gpu
        assert doc["parameters"]["verify"] is True, doc
        assert 0 < doc["parameters"]["timer_us"] < 100, doc
    check_rows(rows, tool, [int(s) for s in sizes.split(",")], numbers)


main(*sys.argv[1:])
