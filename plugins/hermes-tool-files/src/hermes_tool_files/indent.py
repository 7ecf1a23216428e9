"""Moving new lines to where the file has them: by a fixed prefix, or from one unit of indentation to another."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import gcd

Rebase = Callable[[str], str | None]


def find_rebase(pairs: Iterable[tuple[str, str]], new: Sequence[str]) -> Rebase | None:
    """How indentation in the model's text becomes indentation in the file, or None when no single rule explains it.

    ``pairs`` are the indentations of matching lines, remembered and real; ``new`` are those that will be moved.
    """
    seen = list(pairs)
    if all(old == real for old, real in seen):
        return lambda indent: indent
    if any("\t" in real for _, real in seen) and not any("\t" in old for old, _ in seen):
        return _to_tabs(seen, new)
    return _shifted(seen) or _other_unit(seen, new)


def _shifted(pairs: Sequence[tuple[str, str]]) -> Rebase | None:
    old, real = pairs[0]
    if real.endswith(old):
        prefix = real[: len(real) - len(old)]
        if all(r == prefix + o for o, r in pairs):
            return lambda indent: prefix + indent
    if old.endswith(real):
        surplus = old[: len(old) - len(real)]
        if all(o == surplus + r for o, r in pairs):
            return lambda indent: indent[len(surplus) :] if indent.startswith(surplus) else None
    return None


def _unit(indents: Iterable[str]) -> int:
    return reduce(gcd, map(len, indents), 0)


def _to_tabs(pairs: Sequence[tuple[str, str]], new: Sequence[str]) -> Rebase | None:
    unit = _unit([old for old, _ in pairs] + list(new))
    if any("\t" in indent for indent in new) or any(real.strip("\t") for _, real in pairs):
        return None
    if unit == 1:
        return None
    offsets = {len(real) - (len(old) // unit if unit else 0) for old, real in pairs}
    if len(offsets) != 1:
        return None
    offset = offsets.pop()

    def rebase(indent: str) -> str | None:
        level = (len(indent) // unit if unit else 0) + offset
        return "\t" * level if level >= 0 else None

    return rebase


def _other_unit(pairs: Sequence[tuple[str, str]], new: Sequence[str]) -> Rebase | None:
    """Two spaces a level to four, or the like; only where two different levels prove it."""
    everything = [old for old, _ in pairs] + [real for _, real in pairs] + list(new)
    if any("\t" in indent for indent in everything):
        return None
    by_old = dict(pairs)
    if len(by_old) < 2 or any(by_old[old] != real for old, real in pairs):
        return None
    (first, first_real), (last, last_real) = (f(by_old.items(), key=lambda pair: len(pair[0])) for f in (min, max))
    run, rise = len(last) - len(first), len(last_real) - len(first_real)
    if rise <= 0:
        return None

    def rebase(indent: str) -> str | None:
        steps, odd = divmod((len(indent) - len(first)) * rise, run)
        width = len(first_real) + steps
        return None if odd or width < 0 else " " * width

    return rebase if all(rebase(old) == real for old, real in pairs) else None
