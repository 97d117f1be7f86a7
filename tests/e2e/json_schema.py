"""The subset of JSON Schema that docs/openapi.json uses. Other keywords are errors, so that nothing goes unchecked."""

import re

_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
_IGNORED_KEYWORDS = {"description", "examples", "default"}


def resolve(document, node):
    while "$ref" in node:
        target = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


class Schema:
    """Validates values; `strict` rejects members that are not described."""

    def __init__(self, document, strict=True):
        self._document = document
        self._strict = strict

    def errors(self, schema, value, place="$"):
        schema = resolve(self._document, schema)
        for word, argument in schema.items():
            if word in _IGNORED_KEYWORDS:
                continue
            check = getattr(self, "_" + word, None)
            if check is None:
                yield f"{place}: the schema uses {word}, which is not supported"
            else:
                yield from check(argument, value, place, schema)

    def _type(self, wanted, value, place, _schema):
        names = wanted if isinstance(wanted, list) else [wanted]
        for name in names:
            if isinstance(value, _TYPES[name]) and not (name == "integer" and value in (True, False)
                                                        and isinstance(value, bool)):
                return
        yield f"{place}: {value!r} is no {' or '.join(names)}"

    def _enum(self, allowed, value, place, _schema):
        if value not in allowed:
            yield f"{place}: {value!r} is none of {allowed}"

    def _const(self, wanted, value, place, _schema):
        if value != wanted:
            yield f"{place}: {value!r} is not {wanted!r}"

    def _minimum(self, least, value, place, _schema):
        if isinstance(value, int) and value < least:
            yield f"{place}: {value} is below {least}"

    def _maximum(self, most, value, place, _schema):
        if isinstance(value, int) and value > most:
            yield f"{place}: {value} is above {most}"

    def _minLength(self, least, value, place, _schema):
        if isinstance(value, str) and len(value) < least:
            yield f"{place}: shorter than {least}"

    def _maxLength(self, most, value, place, _schema):
        if isinstance(value, str) and len(value) > most:
            yield f"{place}: longer than {most}"

    def _minItems(self, least, value, place, _schema):
        if isinstance(value, list) and len(value) < least:
            yield f"{place}: fewer than {least}"

    def _maxItems(self, most, value, place, _schema):
        if isinstance(value, list) and len(value) > most:
            yield f"{place}: more than {most}"

    def _maxProperties(self, most, value, place, _schema):
        if isinstance(value, dict) and len(value) > most:
            yield f"{place}: more than {most}"

    def _items(self, schema, value, place, _schema):
        if isinstance(value, list):
            for index, element in enumerate(value):
                yield from self.errors(schema, element, f"{place}[{index}]")

    def _required(self, names, value, place, _schema):
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    yield f"{place}: {name} is missing"

    def _properties(self, described, value, place, schema):
        if not isinstance(value, dict):
            return
        for name, element in value.items():
            if name in described:
                yield from self.errors(described[name], element, f"{place}.{name}")
            elif self._strict and "additionalProperties" not in schema:
                yield f"{place}.{name}: not described"

    def _additionalProperties(self, rest, value, place, schema):
        if not isinstance(value, dict):
            return
        for name, element in value.items():
            if name in schema.get("properties", {}):
                continue
            if rest is False:
                yield f"{place}.{name}: not allowed"
            elif isinstance(rest, dict):
                yield from self.errors(rest, element, f"{place}.{name}")

    def _oneOf(self, choices, value, place, _schema):
        fitting = [choice for choice in choices if not list(self.errors(choice, value, place))]
        if len(fitting) != 1:
            yield f"{place}: fits {len(fitting)} of the {len(choices)} choices"

    def _anyOf(self, choices, value, place, _schema):
        if all(list(self.errors(choice, value, place)) for choice in choices):
            yield f"{place}: fits none of the {len(choices)} choices"

    def _not(self, excluded, value, place, _schema):
        if not list(self.errors(excluded, value, place)):
            yield f"{place}: fits what is excluded: {excluded}"

    def _dependentRequired(self, needs, value, place, _schema):
        if isinstance(value, dict):
            for name, others in needs.items():
                for other in others:
                    if name in value and other not in value:
                        yield f"{place}: {name} without {other}"

    def _pattern(self, pattern, value, place, _schema):
        if isinstance(value, str) and not re.search(pattern, value):
            yield f"{place}: {value!r} does not match {pattern}"
