"""What a person saw and what the model was asked for them, made comparable, and compared.

Two plays are the same but for what no two plays have in common: made-up ids, the time, how long something took, and a
port. Each id becomes its number in the order in which this person came to see it, so one id is not taken for another,
and one that only another person can know has no number of its own to hide behind: ``foreign`` looks for those in the
text as it was.
"""

import re
from collections.abc import Callable, Iterable

__all__ = ["comparable", "counted_ids", "differences", "foreign", "only_ordered_otherwise"]

_IDS = {
    "session": re.compile(r"\b\d{8}_\d{6}_[0-9a-f]{8}\b|\bchild_[0-9a-f]+\b"),
    "id": re.compile(r"\b(?:chatcmpl-|resp_|msg_|run_|rs_|fc_|call_)?[0-9a-f]{8,64}(?:_[0-9a-fx][0-9a-f]{7})?\b"),
}  # fmt: skip
_COUNTED = re.compile(r"0{9}")  # a random one has so many in a row once in a thousand million
_TIMES: tuple[tuple[str, str], ...] = (
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?", "<time>"),
    (r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b", "<time>"),
    (r"-\d{6}(?=\.zip\b)", "-<time>"),
    (r"\b\d+(?:\.\d+)? s\b", "<seconds>"),
    (r' … [0-9a-z_]*[0-9a-f]+(?=\\*"\})', " … <cut id>"),  # the end of a child's, by who shows but pieces of a text
    (r'(\\*"seconds\\*"): ?\d+\.\d+', r"\1: <seconds>"),
    (r"\breceipt: \S+", "receipt: <number>"),  # of the service, which counts over all of its chats
    # Whether a receipt came before or after what was done beside it, nobody can tell beforehand.
    (r"(?:\\n|\n) *<time>  receipt: <number> \[<seconds>\]", ""),
    (r'"(created|created_at|completed_at|updated_at|started_at|ended_at)": ?\d+(?:\.\d+)?', r'"\1":<time>'),
)


def comparable(texts: Iterable[str]) -> list[str]:
    """The same without what differs from play to play."""
    numbers: dict[str, str] = {}
    return _without(texts, lambda kind, found: numbers.setdefault(found, f"<{kind} {len(numbers) + 1}>"))


def only_ordered_otherwise(one: Iterable[str], other: Iterable[str]) -> bool:
    """Tell whether two plays hold the same in another order: what somebody began at one time ends as it comes."""
    plain, again = (sorted(_without(texts, lambda kind, _: f"<{kind}>")) for texts in (one, other))
    return plain == again


def _without(texts: Iterable[str], instead_of: Callable[[str, str], str]) -> list[str]:
    """Texts without times, and with something instead of each id, by its kind and what it was."""
    made = []
    for text in texts:
        for known, instead in _TIMES:
            text = re.sub(known, instead, text)
        for kind, pattern in _IDS.items():
            text = pattern.sub(lambda found, kind=kind: instead_of(kind, found[0]), text)
        made.append(text)
    return made


def differences(one: list[str], other: list[str]) -> list[str]:
    """Where two plays differ, as people can read it."""
    found = [_apart(at, a, b) for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other):
        longer = one[len(other) :] or other[len(one) :]
        found.append(f"{len(one)} alone, {len(other)} beside; more: {longer[:3]}")
    return found


def counted_ids(texts: Iterable[str]) -> list[str]:
    """Ids that are numbers in disguise: one that counts over everybody tells how many came before."""
    found = (one for text in texts for one in _IDS["id"].findall(text))
    return sorted({one for one in found if _COUNTED.search(one)})


def _apart(at: int, one: str, other: str) -> str:
    """The first place where two texts part."""
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    begin = max(0, place - 200)
    return f"{at}, at {place}:\n  alone:  …{one[begin : place + 200]}\n  beside: …{other[begin : place + 200]}"


def foreign(texts: Iterable[str], marks: Iterable[str]) -> list[str]:
    """What of another person is in these texts."""
    whole = "\n".join(texts)
    return sorted(mark for mark in set(marks) if mark in whole)
