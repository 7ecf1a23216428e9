"""Make the client of the OpenAPI document that the API serves: ``python generate.py --write``.

Python: ``asked.py`` and ``answered.py`` with the shapes, ``api.py`` with the requests. TypeScript: ``api.ts`` with both.
"""

# ruff: noqa: E501 - texts of two languages stand here as they are written

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PYTHON, TYPESCRIPT = HERE / "src/hermes_client", HERE / "typescript"
MADE = "Made of the API's OpenAPI document by generate.py."
_HEADERS = {
    "X-Hermes-Session-Id": "session_id",
    "X-Hermes-Session-Key": "session_key",
    "Idempotency-Key": "idempotency_key",
}
_PLAIN = {
    "string": ("str", "string"),
    "integer": ("int", "number"),
    "number": ("float", "number"),
    "boolean": ("bool", "boolean"),
    "null": ("None", "null"),
}
Schema = Mapping[str, Any]


class Shape(NamedTuple):
    """A named shape: each field with its Python type, its TypeScript type, and whether it has to be there."""

    name: str
    fields: dict[str, tuple[str, str, bool]]


class Shapes:
    """The shapes of a document. What looks the same within one is the same, under the name that came first."""

    def __init__(self) -> None:
        self.found: dict[str, Shape] = {}
        self._known: dict[str, str] = {}

    def of(self, schema: Schema, name: str) -> tuple[str, str]:
        """Return a schema's types in both languages; shapes within it are noted under names that begin with ``name``."""
        if "$ref" in schema:
            found = schema["$ref"].rpartition("/")[2]
            return found, found
        if "anyOf" in schema:
            return _united(
                [self.of(one, f"{name}{_word(one, number)}") for number, one in enumerate(schema["anyOf"], 1)]
            )
        if "enum" in schema:
            known = [one for one in schema["enum"] if one is not None]
            python = ", ".join(json.dumps(one) if isinstance(one, str) else repr(one) for one in known)
            none = [("None", "null")] if None in schema["enum"] else []
            return _united([(f"Literal[{python}]", " | ".join(map(json.dumps, known))), *none])
        kinds = schema.get("type", [])
        return _united([self._one(schema, kind, name) for kind in ([kinds] if isinstance(kinds, str) else kinds)])

    def _one(self, schema: Schema, kind: str, name: str) -> tuple[str, str]:
        if kind == "array":
            python, typescript = self.of(schema.get("items", {}), name)
            return f"list[{python}]", f"Array<{typescript}>"
        if kind == "object":
            if "properties" in schema:
                shape = self.named(schema, name)
                return shape, shape
            python, typescript = self.of(schema.get("additionalProperties") or {}, name)
            return f"dict[str, {python}]", f"Record<string, {typescript}>"
        return _PLAIN[kind]

    def named(self, schema: Schema, name: str) -> str:
        """Note the shape of an object, and return its name."""
        key = json.dumps([schema.get("properties"), schema.get("required")], sort_keys=True)
        if key in self._known:
            return self._known[key]
        while name in self._known.values():
            name += "2"
        self._known[key] = name
        fields: dict[str, tuple[str, str, bool]] = {}
        for field, one in schema["properties"].items():
            fields[field] = (*self.of(one, name + _camel(field)), field in schema.get("required", ()))
        self.found[name] = Shape(name, fields)  # behind what is in it
        return name


def _united(found: list[tuple[str, str]]) -> tuple[str, str]:
    if not found:
        return "Any", "unknown"
    python, typescript = (list(dict.fromkeys(one[place] for one in found)) for place in (0, 1))
    return " | ".join(python), " | ".join(typescript)


def _word(schema: Schema, number: int) -> str:
    """Say which of several a schema is, by the first of its fields that can only be one thing."""
    for field in ("role", "type"):
        only = schema.get("properties", {}).get(field, {}).get("enum", [])
        if only and isinstance(only[0], str):
            return _camel(only[0])
    return "" if "properties" not in schema else str(number) if number > 1 else ""


def _thing(path: str) -> str:
    """Return what the id in a path is of: the word before it, of one."""
    return path.partition("/{")[0].rpartition("/")[2].removesuffix("s")


def _camel(words: str) -> str:
    return "".join(one[:1].upper() + one[1:] for one in re.split(r"\W|_", words))


def _snake(words: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()


def _python_shape(shape: Shape) -> str:
    def field(name: str) -> str:
        python, _, needed = shape.fields[name]
        return python if needed else f"NotRequired[{python}]"

    if all(name.isidentifier() and name not in _KEYWORDS for name in shape.fields):
        body = "".join(f"    {name}: {field(name)}\n" for name in shape.fields) or "    pass\n"
        return f"class {shape.name}(TypedDict):\n{body}"
    body = ", ".join(f'"{name}": "{field(name)}"' for name in shape.fields)
    return f'{shape.name} = TypedDict("{shape.name}", {{{body}}})\n'


_KEYWORDS = {"from", "in", "class", "is", "not", "or", "and", "if", "else", "def", "for", "with", "as"}


class Operation(NamedTuple):
    """One request, as the document has it."""

    name: str
    method: str
    path: str
    summary: str
    inside: list[str]
    query: list[str]
    headers: list[str]
    body: str
    answer: str
    streams: bool
    flagged: bool  # its body says whether it streams


def _operations(document: Schema) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            parameters = {
                kind: [one["name"] for one in told.get("parameters", ()) if one["in"] == kind]
                for kind in ("path", "query", "header")
            }
            body = (
                told.get("requestBody", {})
                .get("content", {})
                .get("application/json", {})
                .get("schema", {})
                .get("$ref", "")
            )
            body = body.rpartition("/")[2]
            well = next(one for code, one in told["responses"].items() if code.startswith("2")).get("content", {})
            answer = well.get("application/json", {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
            flagged = bool(body) and "stream" in document["components"]["schemas"][body]["properties"]
            yield Operation(
                told["operationId"], method.upper(), path, told.get("summary") or "Get the document of this API.", [_thing(path)] if parameters["path"] else [], parameters["query"],
                parameters["header"], body, answer, "text/event-stream" in well, flagged,
            )  # fmt: skip


def _python(one: Operation) -> Iterator[str]:
    given = ["self", *(f"{name}: str" for name in one.inside)]
    needs = [f"body: {one.body}"] if one.body else []
    keyed = [f"{name}: int | None = None" for name in one.query]
    keyed += [f"{_HEADERS[name]}: str | None = None" for name in one.headers]
    signature = ", ".join([*given, *needs, *(["*", *keyed] if keyed else [])])
    path = re.sub(r"{(\w+)}", lambda _: f"{{in_path({one.inside[0]})}}", one.path)
    words = [json.dumps(one.method), f'f"{path}"' if path != one.path else f'"{path}"']
    more = ["query={" + ", ".join(f'"{name}": {name}' for name in one.query) + "}"] if one.query else []
    more += (
        ["headers={" + ", ".join(f'"{name}": {_HEADERS[name]}' for name in one.headers) + "}"] if one.headers else []
    )
    name = _snake(one.name)
    about = one.summary.rstrip(".")
    if one.answer:
        body = ['body={**body, "stream": False}' if one.flagged else "body=body"] if one.body else []
        call = ", ".join([*words, *body, *more])
        yield f'    async def {name}({signature}) -> {one.answer}:\n        """{about}. Raises ApiError."""\n        found: {one.answer} = await self._ask({call})\n        return found\n'
    if one.streams:
        body = ['body={**body, "stream": True}' if one.flagged else "body=body"] if one.body else []
        call = ", ".join([*words, *body, *more])
        streamed = name if not one.answer else f"{name}_stream"
        yield f'    def {streamed}({signature}) -> AsyncIterator[Event]:\n        """{about}; yields events. Raises ApiError."""\n        return self._follow({call})\n'


def _typescript(one: Operation) -> Iterator[str]:
    camel = {name: re.sub(r"_(\w)", lambda found: found[1].upper(), _HEADERS[name]) for name in one.headers}
    given = [f"{name}: string" for name in one.inside] + ([f"body: {one.body}"] if one.body else [])
    fields = [f"{name}?: number" for name in one.query] + [f"{camel[name]}?: string" for name in one.headers]
    given += ["given: { " + "; ".join([*fields, "signal?: AbortSignal"]) + " } = {}"]
    path = re.sub(r"{(\w+)}", lambda _: f"${{encodeURIComponent({one.inside[0]})}}", one.path)
    more = ["query: { " + ", ".join(f"{name}: given.{name}" for name in one.query) + " }"] if one.query else []
    more += (
        ["headers: { " + ", ".join(f'"{name}": given.{camel[name]}' for name in one.headers) + " }"]
        if one.headers
        else []
    )
    more += ["signal: given.signal"]
    signature = ", ".join(given)
    for streams in [*([False] if one.answer else []), *([True] if one.streams else [])]:
        flag = "true" if streams else "false"
        body = [f"body: {{ ...body, stream: {flag} }}" if one.flagged else "body"] if one.body else []
        call = f"{json.dumps(one.method)}, `{path}`, {{ {', '.join([*body, *more])} }}"
        if streams:
            name = one.name if not one.answer else f"{one.name}Stream"
            yield f"  /** {one.summary} */\n  {name}({signature}): AsyncGenerator<StreamEvent, void, void> {{\n    return this.follow({call});\n  }}\n"
        else:
            yield f"  /** {one.summary} */\n  {one.name}({signature}): Promise<{one.answer}> {{\n    return this.ask<{one.answer}>({call});\n  }}\n"


def made() -> dict[Path, str]:
    """Return the files of the client, by where they lie."""
    from hermes_platform_api.openapi import document

    whole = document()
    asked, answered = Shapes(), Shapes()
    bodies = {one.body for one in _operations(whole)}
    for name, schema in whole["components"]["schemas"].items():
        if name != "Event":
            (asked if name in bodies else answered).named(schema, name)
    operations = list(_operations(whole))
    texts = {}
    for file, shapes, about in (("asked", asked, "What requests hold"), ("answered", answered, "What answers hold")):
        body = "\n\n".join(_python_shape(one) for one in shapes.found.values())
        used = [name for name in ("Any", "Literal", "NotRequired", "TypedDict") if re.search(rf"\b{name}\b", body)]
        names = ", ".join(f'"{name}"' for name in shapes.found if not name[-1].isdigit())
        texts[PYTHON / f"{file}.py"] = (
            f'"""{about}. {MADE}"""\n\n# ruff: noqa: D101 - their fields say what they are\n\nfrom typing import {", ".join(used)}\n\n__all__ = [{names}]\n\n\n{body}'
        )
    uses = [sorted({getattr(one, kind) for one in operations} - {""}) for kind in ("answer", "body")]
    head = f'"""What may be asked of the API. {MADE}"""\n\nfrom collections.abc import AsyncIterator\n\n'
    head += "".join(
        f"from hermes_client.{file} import {', '.join(names)}\n"
        for file, names in zip(("answered", "asked"), uses, strict=True)
    )
    head += 'from hermes_client.wire import Event, Wire, in_path\n\n__all__ = ["Client"]\n\n\n'
    head += 'class Client(Wire):\n    """The API of a Hermes, a method for each of its requests."""\n\n'
    texts[PYTHON / "api.py"] = head + "\n".join(text for one in operations for text in _python(one))
    texts = {file: _formatted(file, text) for file, text in texts.items()}
    lines = [
        f"// What may be asked of the API, and what comes. {MADE}",
        'import { Wire } from "./wire.js";',
        'import type { StreamEvent } from "./wire.js";',
        "",
        'export { ApiError } from "./wire.js";',
        'export type { StreamEvent } from "./wire.js";',
        "",
    ]
    for shape in (*asked.found.values(), *answered.found.values()):
        fields = "".join(
            f"  {name if name.isidentifier() else json.dumps(name)}{'' if needed else '?'}: {kind};\n"
            for name, (_, kind, needed) in shape.fields.items()
        )
        lines.append(f"export interface {shape.name} {{\n{fields}}}\n")
    lines.append("/** The API of a Hermes, a method for each of its requests. */\nexport class Client extends Wire {")
    lines.append("\n".join(text for one in operations for text in _typescript(one)) + "}\n")
    texts[TYPESCRIPT / "api.ts"] = "\n".join(lines)
    return texts


def _formatted(file: Path, text: str) -> str:
    for words in (["check", "--fix-only", "--select", "I,RUF022", "-q"], ["format", "-q"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(file), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout or text
    return text


def main() -> int:
    """Write what changed, or say that the client is behind: exit 1."""
    behind = {file: text for file, text in made().items() if not file.exists() or file.read_text("utf-8") != text}
    for file, text in behind.items():
        if "--write" in sys.argv:
            file.write_text(text, "utf-8")
        sys.stdout.write(f"{'written' if '--write' in sys.argv else 'behind'}: {file.relative_to(HERE)}\n")
    return 1 if behind and "--write" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
