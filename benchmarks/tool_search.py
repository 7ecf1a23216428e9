"""How well and how quickly tools are found, in CPU time: ``benchmarks/tool_search.py [--rounds N] [--registry DIR]``.

The corpus is that of the search's tests: 2,502 tools, and what a person would say who wants one of them. The same words
are put to plain BM25 over the same texts, as the baseline. Nothing was chosen by the half that is held out. With a
checkout of github.com/docker/mcp-registry, also 755 tools that others have named and described.
"""

import argparse
import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins/hermes-tool-search/tests"))

from tool_corpus import asked, asked_of_registry, registry, tools

from hermes_tool_search.index import Index
from hermes_tool_search.words import words

Rows = list[tuple[str, str, str, str]]


class Plain:
    """BM25 over all texts of a tool, with the usual constants."""

    def __init__(self, rows: Rows) -> None:
        self._names = [name for name, *_ in rows]
        self._texts = [Counter(words(" ".join(row))) for row in rows]
        self._mean = statistics.mean(one.total() for one in self._texts)
        self._there = Counter(word for one in self._texts for word in one)

    def search(self, query: str, limit: int) -> list[str]:
        """The names of the tools that fit, best first."""
        count = len(self._texts)

        def points(one: Counter[str]) -> float:
            found = 0.0
            for word in words(query):
                if n := one.get(word):
                    rarity = math.log(1 + (count - self._there[word] + 0.5) / (self._there[word] + 0.5))
                    found += rarity * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * one.total() / self._mean))
            return found

        scored = [(-points(one), name) for one, name in zip(self._texts, self._names, strict=True)]
        return [name for _, name in sorted(scored)[:limit]]


def share(search: Callable[[str, int], list[str]], pairs: Sequence[tuple[str, str]]) -> float:
    """How many of the tools are among the first five."""
    return sum(name in search(query, 5) for query, name in pairs) / len(pairs)


def compared(rows: Rows, asked: Callable[..., Sequence[tuple[str, str]]]) -> Index:
    """Print how many are found, by both, and give our index."""
    index, plain = Index(rows), Plain(rows)
    for held_out in (False, True):
        pairs = asked(held_out=held_out)
        print(
            f"among the first five of {len(rows):,}, {'held out' if held_out else 'known'}: "
            f"{share(index.search, pairs):.3f}, plain BM25 {share(plain.search, pairs):.3f} ({len(pairs)} questions)"
        )
    return index


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--registry", type=Path, help="a checkout of docker/mcp-registry")
    given = parser.parse_args()
    specs, sets = tools()
    rows = [(one.name, sets[one.name], one.description, "id") for one in specs]
    began = time.process_time()
    Index(rows).search("the first query reads the lexicon", 5)
    built = time.process_time() - began
    index = compared(rows, asked)
    if given.registry:
        compared(registry(given.registry), asked_of_registry)
    taken = []
    for _ in range(given.rounds):
        for query, _name in asked(held_out=False):
            began = time.process_time()
            index.search(query, 5)
            taken.append((time.process_time() - began) * 1000)
    taken.sort()
    print(f"a query: median {statistics.median(taken):.2f} ms, 99 % below {taken[len(taken) * 99 // 100]:.2f} ms")
    print(f"the index of {len(rows):,} tools: {built * 1000:.0f} ms, once")


if __name__ == "__main__":
    main()
