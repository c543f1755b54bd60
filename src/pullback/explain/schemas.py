"""Checks of a file against its schema, before anything is made of it."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, set[type]] = {
    "object": {dict},
    "array": {list},
    "string": {str},
    "integer": {int},
    "number": {int, float},
    "boolean": {bool},
    "null": {type(None)},
}


def problem(value: object, schema: dict[str, Any], root: dict[str, Any] | None = None, place: str = "it") -> str | None:
    """Where and why a JSON value does not follow a schema, in words; None if it does.

    Of JSON Schema it knows what the schemas of this folder use; integers have at most 64 bits.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return problem(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, place)
    if "anyOf" in schema:
        found = [problem(value, each, root, place) for each in schema["anyOf"]]
        return None if None in found else found[-1]
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None:
        return None if value in allowed and type(value) in {*map(type, allowed)} else f"{place} is none of {allowed}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(type(value) in _TYPES[each] for each in types):
        return f"{place} is no {' or '.join(types)}"
    if isinstance(value, dict):
        return _of_object(value, schema, root, place)
    if isinstance(value, list):
        return _of_array(value, schema, root, place)
    if isinstance(value, int) and not schema.get("minimum", -(2**63)) <= value < 2**63:
        return f"{place} is out of range"
    return None


def _of_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], place: str) -> str | None:
    if missing := [name for name in schema["required"] if name not in value]:
        return f"{place} has no {missing[0]}"
    if len(value) > len(schema["properties"]) or value.keys() - schema["properties"].keys():
        return f"{place} has more than {', '.join(schema['properties'])}"
    found = (problem(each, schema["properties"][name], root, name) for name, each in value.items())
    return next(filter(None, found), None)


def _of_array(value: list[Any], schema: dict[str, Any], root: dict[str, Any], place: str) -> str | None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return f"{place} has {len(value)} items"
    items = schema["items"]
    if _free(items).issuperset(map(type, value)):
        return None
    found = (problem(each, items, root, f"an item of {place}") for each in value)
    return next(filter(None, found), None)


def _free(schema: dict[str, Any]) -> set[type]:
    """The types of which a schema allows all values: a long array of these is checked at once."""
    if not schema.keys() <= {"type", "minimum"}:
        return set()
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return set().union(*(_TYPES[each] for each in types)) - {int, dict, list}
