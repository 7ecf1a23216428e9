"""Judges a profile of ``sandbox-exec`` as macOS is said to: the last rule that is about an operation decides."""

import re

from attrs import frozen


def parsed(text):
    """The expressions, as nested lists; what was quoted is a ``Quoted``. Raises ValueError for what is not balanced."""
    stack = [[]]
    for word in re.findall(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+', text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(Quoted(re.sub(r"\\(.)", r"\1", word[1:-1])) if word[0] == '"' else word)
    (whole,) = stack
    return whole


@frozen
class Quoted:
    """What stood between quotes."""

    text: str


def allows(profile, operation, **facts):
    """Whether a profile lets an operation through; ``facts`` are its ``path``, ``remote``, ``local``, ``target`` …"""
    decided = "deny"
    for verdict, *words in parsed(profile):
        if verdict == "version":
            continue
        names = [word for word in words if isinstance(word, str)]
        filters = [word for word in words if isinstance(word, list)]
        meant = any(_covers(name, operation) for name in names)
        if meant and (not filters or any(_holds(one, facts) for one in filters)):
            decided = verdict
    assert decided in ("allow", "deny")
    return decided == "allow"


def _covers(name, operation):
    return name in ("default", operation) or (name.endswith("*") and operation.startswith(name[:-1]))


def _holds(filter_, facts):
    kind, *rest = filter_
    if kind in ("subpath", "literal"):
        path, asked = rest[0].text, facts.get("path", "")
        return asked == path or (kind == "subpath" and asked.startswith(f"{path}/"))
    if kind in ("remote", "local"):
        assert rest[0] == "ip"
        host, _, port = rest[1].text.partition(":")
        asked = facts.get(kind, ("", 0))
        return asked[0] == host and port in ("*", str(asked[1]))
    if kind == "target":
        return facts.get("target") == rest[0]
    assert kind == "global-name", f"a filter that is not known here: {kind}"
    return facts.get("service") == rest[0].text
