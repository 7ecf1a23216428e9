"""An index of tools: finds them by words of their names and descriptions, and by others that mean the same."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest

from hermes_tool_search.words import joined, lists, meant, terms, words

__all__ = ["Index"]

# How much a word counts in a name, a toolset, a description, in arguments, and how much it loses where there are many.
_PLACES = ((5.0, 0.9), (1.0, 0.0), (1.0, 0.5), (0.2, 0.7))
_K = 1.2  # of BM25: how soon more of a word says no more
_MEANT = 0.8  # how much a word counts that only means the same
_WHOLE = 2.0  # how much a name gains by saying nothing beside what is asked for
_SHORT, _CALLED = 4, 10.0  # characters that may end many names; how much it counts to be called by one's name
_PART = 0.6  # how much a word counts that is the end of a longer one
_ALIKE, _LIKELY = 0.5, 0.6  # how alike a word must be that is written differently, and how much it counts
_COMMON = 0.35  # a meant word that so many tools have leads nowhere


class Index:
    """The tools of a conversation. Two thousand are indexed in half a second, and searched in a thousandth of one."""

    def __init__(self, rows: Sequence[tuple[str, str, str, str]]) -> None:
        """``rows`` are the tools: the name of each, its toolset, its description, the names of its arguments."""
        self._names = [name for name, *_ in rows]
        self._flat = ["".join(words(name)) for name in self._names]
        places = [tuple(map(terms, row)) for row in rows]
        means = [sum(len(one[at]) for one in places) / max(1, len(places)) or 1.0 for at in range(len(_PLACES))]
        self._found: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._named: dict[str, list[int]] = defaultdict(list)
        self._long = [len({*one[0]}) or 1 for one in places]
        for number, there in enumerate(places):
            for word in {*there[0]}:
                self._named[word].append(number)
            counted: dict[str, float] = defaultdict(float)
            for (weight, loss), said, mean in zip(_PLACES, there, means, strict=True):
                each = weight / (1 - loss + loss * len(said) / mean)
                for word in said:
                    counted[word] += each
            for word, count in counted.items():
                self._found[word].append((number, count * (_K + 1) / (count + _K)))
        self._long_words = [word for word in self._found if len(word) > 6 and " " not in word]
        self._rarity = {
            word: math.log(1 + (len(places) - len(there) + 0.5) / (len(there) + 0.5))
            for word, there in self._found.items()
        }
        self._pieces: dict[str, set[str]] = defaultdict(set)
        for word in self._found:
            for piece in _pieces(word):
                self._pieces[piece].add(word)

    def search(self, query: str, limit: int) -> list[str]:
        """The names of the tools that fit, best first.

        Of what means the same, a tool gets the points of one word only. What is asked for by its name comes first.
        """
        points: dict[int, float] = defaultdict(float)
        asked = set[str]()
        wanted = [*meant(query), *(([one], frozenset[str]()) for one in joined(query) if one in self._found)]
        if lists(query):
            wanted.append((["list"], frozenset({"search"})))
        for said, others in wanted:
            best: dict[int, float] = {}
            for word, weight in self._weighed(said, others).items():
                asked.add(word)
                self._count(best, word, weight)
            for number, counts in best.items():
                points[number] += counts
        whole: Counter[int] = Counter()
        for word in asked:
            whole.update(self._named.get(word, ()))
        flat = "".join(words(query))
        for number in points:
            points[number] *= 1 + _WHOLE * whole[number] / self._long[number]
            if len(flat) > _SHORT and self._flat[number].endswith(flat):
                points[number] *= _CALLED
        return [self._names[n] for n in nsmallest(limit, points, key=lambda n: (-points[n], self._names[n]))]

    def _weighed(self, said: Sequence[str], others: Collection[str]) -> Mapping[str, float]:
        """Words by which a tool may speak of one thing that is asked for, and how much each counts."""
        most = _COMMON * len(self._names)
        found = {word: _MEANT for word in others if len(self._found.get(word, ())) < most}
        for word in said:
            if len(word) > 3:  # link, where a name has deeplink
                found |= dict.fromkeys((one for one in self._long_words if one.endswith(word)), _PART)
            if word in self._found:
                found[word] = 1.0
            elif " " not in word:
                found |= {other: _LIKELY * alike for other, alike in self._alike(word) if other not in found}
        return found

    def _count(self, best: dict[int, float], word: str, weight: float) -> None:
        weight *= self._rarity.get(word, 0.0)
        for number, counts in self._found.get(word, ()):
            if best.get(number, 0.0) < weight * counts:
                best[number] = weight * counts

    def _alike(self, word: str) -> list[tuple[str, float]]:
        """Known words that are written like an unknown one: a slip, a part, a compound."""
        pieces = _pieces(word)
        shared = Counter(other for piece in pieces for other in self._pieces.get(piece, ()))
        near = ((other, 2 * n / (len(pieces) + len(_pieces(other)))) for other, n in shared.most_common(20))
        return [(other, alike) for other, alike in near if alike >= _ALIKE][:3]


def _pieces(word: str) -> set[str]:
    edged = f"<{word}>"
    return {edged[at : at + 3] for at in range(len(edged) - 2)}
