"""The mistakes that are made, and those that are left out."""

import gc
import tomllib
from pathlib import Path

import pytest
from mutants import mutants_of, statements_of
from runner import living

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def changes(tmp_path: Path, source: str) -> dict[str, str]:
    """What each mistake is, with the function it is in."""
    path = tmp_path / "source.py"
    path.write_text(source)
    return {one.change: one.function for one in mutants_of(path, "source.py")[1]}


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("x = a < b", {"a < b -> a <= b"}),
        ("x = a in (b, c)", {"a in (b, c) -> a not in (b, c)", "a in (b, c) -> a in (c,)", "a in (b, c) -> a in (b,)"}),
        ("x = a and b", {"a and b -> a or b"}),
        ("x = a or b or c", {"a or b or c -> b or c", "a or b or c -> a or c", "a or b or c -> a or b"}),
        ("x = b if a else c", {"a -> not a"}),
        ("x = [a for a in b if a.c]", {"a.c -> not a.c"}),
        ("x = not a", {"not a -> a"}),
        ("x = a + 1", {"a + 1 -> a - 1", "1 -> 2"}),
        ("x = any(a)", {"any(a) -> all(a)"}),
        ("x = a.startswith('b')", {"a.startswith('b') -> a.endswith('b')", "'b' -> 'bXX'"}),
        ("x = a['b']", {"'b' -> 'bXX'"}),
        ("x = a.has('--b')", {"'--b' -> 'XX--b'"}),
        ("x.y = a", {"x.y = a -> pass"}),
        ("x += a", {"x += a -> pass", "x += a -> x -= a"}),
        ("f(a)", {"f(a) -> pass"}),
        ("raise E(1)", {"raise E(1) -> pass"}),
        ("x: int = 5", {"5 -> 6"}),
        ("x = text[:600]", {"600 -> 0"}),
    ],
)  # fmt: skip
def test_each_thing_that_decides_is_made_wrong(tmp_path, source, wrong):
    assert set(changes(tmp_path, source)) == wrong


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "x = f'{a + 1}'",
        "x = 'a word in a table', 'and another'",
        "log.info('%s', a and b)",
        "x = Question(hint='a' if b < c else '')",
        "__all__ = ['a' + b]",
        "x: 'int | None'",
        "if TYPE_CHECKING:\n    import a\n    b = 1",
        "def f(a: int | None) -> int | None: 'Nothing.'",
        "@decorated(1)\ndef f(): 'Nothing.'",
        "class A(B[1]):\n    def __repr__(self): return self.a + 1",
    ],
)
def test_what_only_people_or_type_checkers_read_is_left_alone(tmp_path, source):
    assert changes(tmp_path, source) == {}


def test_what_is_read_once_is_told_from_what_is_read_in_each_call(tmp_path):
    found = changes(tmp_path, "A = 1\nclass C:\n    b = 2\n    def m(self, c=3):\n        def n(d=4): return d - e\n")
    assert found == {"1 -> 2": "", "2 -> 3": "", "3 -> 4": "", "4 -> 5": "C.m", "d - e -> d + e": "C.m",
                     "return d - e -> return None": "C.m"}  # fmt: skip


def test_one_mistake_is_made_at_a_time(tmp_path):
    path = tmp_path / "source.py"
    path.write_text("x = 1 < 2\ny = 3 < 3\n")
    tree, found = mutants_of(path, "source.py")
    results = []
    for one in found:
        space: dict[str, bool] = {}
        exec(one.compiled(tree, str(path)), space)
        results.append((one.line, space["x"], space["y"]))
    assert results == [(1, True, False), (1, False, False), (1, True, False),
                       (2, True, True), (2, True, False), (2, True, True)]  # fmt: skip


def test_a_statement_is_made_wrong_behind_where_it_begins_to_decide(tmp_path):
    path = tmp_path / "sql.py"
    sql = "UPDATE t SET a=:a, n=(t.n + 1) WHERE t.b = 'c' AND t.d < :d"
    path.write_text(f'SQL = {{\n    "t_set": "{sql}",\n    "other": "SELECT 1"\n}}\n')
    found = statements_of(path, "sql.py", "t_.*")
    assert {one.line for one in found} == {2}
    assert {one.text for one in found} == {
        "UPDATE t SET n=(t.n + 1) WHERE t.b = 'c' AND t.d < :d",
        "UPDATE t SET a=:a WHERE t.b = 'c' AND t.d < :d",
        "UPDATE t SET a=:a, n=(t.n - 1) WHERE t.b = 'c' AND t.d < :d",
        "UPDATE t SET a=:a, n=(t.n + 1) WHERE t.b != 'c' AND t.d < :d",
        "UPDATE t SET a=:a, n=(t.n + 1) WHERE t.b = 'XX' AND t.d < :d",
        "UPDATE t SET a=:a, n=(t.n + 1) WHERE t.b = 'c' OR t.d < :d",
        "UPDATE t SET a=:a, n=(t.n + 1) WHERE t.b = 'c' AND t.d <= :d",
    }


def test_functions_are_found_that_the_collector_looks_at_no_more():
    gc.freeze()  # as the tests are once they are collected
    try:
        assert any(one is living for one in living())
    finally:
        gc.freeze()


def test_what_is_said_to_be_equivalent_is_there_and_says_why():
    """A mistake that can no longer be made, as its line was changed, leaves the list."""
    listed = tomllib.loads((HERE / "equivalent.toml").read_text())["mutant"]
    rooms = tomllib.loads((HERE / "rooms.toml").read_text()).values()
    sql = "hermes_core/store/versions/head/__init__.py"
    known = {one.key for one in statements_of(ROOT / sql, sql, ".*")}
    judged = {str(path.relative_to(ROOT)) for room in rooms for pattern in room["files"] for path in ROOT.glob(pattern)}
    for name in {one["file"] for one in listed} - {sql}:
        assert name in judged
        known |= {one.key for one in mutants_of(ROOT / name, name)[1]}
    assert {" ".join((one["file"], one["place"], one["change"])) for one in listed} <= known
    assert all(one["why"].strip() for one in listed)
