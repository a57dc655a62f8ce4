#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The example manifests are what Kubernetes takes: each document goes through
the models of the Kubernetes client and must come back whole, so that a
misspelt field, a wrong type and a missing one are found."""
import pathlib
import sys

try:
    import yaml
    from kubernetes import client
except ImportError as e:
    print(f"SKIP: {e}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "kubernetes"
KINDS = {("v1", "Pod"): "V1Pod", ("apps/v1", "DaemonSet"): "V1DaemonSet"}
# The gdrcopy: block of the GPU Operator's values.
OPERATOR = {"enabled": bool, "repository": str, "image": str, "version": str,
            "imagePullPolicy": str, "imagePullSecrets": list, "env": list, "args": list}


class Body:  # what the client's deserializer reads from
    def __init__(self, text):
        self.data = text


def round_trip(document):
    import json
    api = client.ApiClient()
    model = KINDS[(document["apiVersion"], document["kind"])]
    return api.sanitize_for_serialization(api.deserialize(Body(json.dumps(document)), model))


def problems(document, name):
    if set(document) == {"gdrcopy"}:
        for key, value in document["gdrcopy"].items():
            if not isinstance(value, OPERATOR.get(key, type(None))):
                yield f"{name}: gdrcopy.{key}: not a value of the operator's chart"
        return
    try:
        back = round_trip(document)
    except (KeyError, ValueError) as e:
        yield f"{name}: {e}"
        return
    if back != document:
        yield f"{name}: Kubernetes would take it as {back}"


def self_test():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
           "spec": {"containers": [{"name": "x", "image": "x"}]}}
    assert not list(problems(pod, "")), "a right one is refused"
    pod["spec"]["containers"][0]["imaje"] = "x"
    assert list(problems(pod, "")), "a misspelt field is not found"
    pod["spec"] = {}
    assert list(problems(pod, "")), "a missing field is not found"
    assert list(problems({"gdrcopy": {"enable": True}}, "")), "a wrong value is not found"


self_test()
found = []
files = sorted(HERE.glob("*.yaml"))
for path in files:
    for doc in yaml.safe_load_all(path.read_text()):
        found += problems(doc, path.name)
print("\n".join(found) or f"{len(files)} manifests")
sys.exit(bool(found) or not files)
