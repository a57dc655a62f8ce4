# SPDX-License-Identifier: MIT
"""Validates JSON documents against a schema: SCHEMA FILE...

Knows the keywords that docs/report.schema.json uses and refuses others, so that
none is skipped in silence.  Where the jsonschema package is installed, its
verdict has to be the same."""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SILENT = {"$schema", "title", "description", "$defs"}
KNOWN = {"type", "const", "enum", "pattern", "minimum", "required", "properties",
         "additionalProperties", "items", "$ref"}


def is_type(value, name):
    if name in ("number", "integer"):
        return (isinstance(value, (int, float)) and not isinstance(value, bool)
                and (name == "number" or float(value).is_integer()))
    return isinstance(value, TYPES[name])


def scalar(value, schema, at):
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_type(value, n) for n in names):
            yield f"{at}: {value!r} is none of {names}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} does not match {schema['pattern']}"
    if "minimum" in schema and is_type(value, "number") and value < schema["minimum"]:
        yield f"{at}: {value} is less than {schema['minimum']}"


def errors(value, schema, root, at="$"):
    unknown = set(schema) - KNOWN - SILENT
    assert not unknown, f"keywords that this validator does not know: {unknown}"
    if "$ref" in schema:
        target = root
        for part in schema["$ref"][2:].split("/"):
            target = target[part]
        yield from errors(value, target, root, at)
    yield from scalar(value, schema, at)
    if isinstance(value, list):
        for i, v in enumerate(value):
            yield from errors(v, schema.get("items", {}), root, f"{at}[{i}]")
    if not isinstance(value, dict):
        return
    for name in schema.get("required", []):
        if name not in value:
            yield f"{at}: {name} is missing"
    for name, v in value.items():
        if name in schema.get("properties", {}):
            yield from errors(v, schema["properties"][name], root, f"{at}.{name}")
            continue
        more = schema.get("additionalProperties", True)
        if more is False:
            yield f"{at}: {name} is unknown"
        elif isinstance(more, dict):
            yield from errors(v, more, root, f"{at}.{name}")


def same_rows(doc):
    """What a schema cannot say: all results have the same fields."""
    rows = doc.get("results", [])
    for i, row in enumerate(rows):
        if list(row) != list(rows[0]):
            yield f"$.results[{i}]: its fields are not those of the first"


def main(schema_file, *files):
    with open(schema_file, encoding="utf-8") as f:
        schema = json.load(f)
    try:
        from jsonschema import Draft202012Validator
        Draft202012Validator.check_schema(schema)
        other = Draft202012Validator(schema).is_valid
    except ImportError:
        other = None
    bad = 0
    for name in files:
        with open(name, encoding="utf-8") as f:
            doc = json.load(f)
        found = list(errors(doc, schema, schema))
        assert other is None or other(doc) == (not found), (name, found)
        found += same_rows(doc)
        bad += bool(found)
        for e in found:
            print(f"{name}: {e}")
    return bad != 0


sys.exit(main(*sys.argv[1:]))
