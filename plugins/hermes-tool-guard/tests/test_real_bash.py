"""Does the real bash run what the guard saw? Random commands of harmless stubs, in an empty folder, compared."""

import random
import re
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from hermes_tool_guard.guard import check
from hermes_tool_guard.judgement import Class

BASH = shutil.which("bash")
STUBS = ("one", "two", "three")
REAL = ("bash", "env", "xargs", "nice", "timeout", "cat", "tr", "rev", "base64", "printf")
STUB = """#!/bin/sh
printf '%s\\001' "$(printf '\\002')${0##*/}" "$@" >> "$STUB_LOG"
"""
PIECES = (
    "a",
    "b-c",
    "é",
    "'q r'",
    '"d e"',
    '"x$V y"',
    "$V",
    "${V}",
    "${V:-def}",
    "${V%b}",
    "${V%%b*}",
    "${V#a}",
    "${V/a/z}",
    "${V^^}",
    "${V:1:2}",
    r"$'t\x41\tz'",
    r"\ ",
    r"\$",
    r"\\",
    r'"\""',
    "{m,n}",
    "{1..3}",
    '""',
    "''",
    "$(printf %s hi)",
    "`printf '%s' yo`",
    "$((1 + 2))",
    '"$@"',
    "$*",
    "~",
    "$UNSET",
    "${UNSET:-u v}",
    '"${W}"',
    "$W",
    "=",
    "#x",
    "x=y",
    "-n",
    "--",
    "%s",
    "@",
    r"a\
b",
    "[ab]",
    "*.none",
    '"$(two inner)"',
    "a:b",
    ",",
    "}",
    "!",
    "^",
    '"`printf q`"',
    "$'\\162m'",
    '"$V"$W',
)
pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash here")


class Commands:
    """Random commands that can do no harm: they run stubs, write nothing and leave their folder alone."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def word(self) -> str:
        return "".join(self.chance.choices(PIECES, k=self.chance.choice((1, 1, 1, 2, 3))))

    def simple(self) -> str:
        name = self.chance.choice(("one", "two", "three", "'one'", "o''ne", r"t\wo", '"three"', "command one", r"\two"))
        before = self.chance.choice(("", "", "", "V=new ", "env ", "nice ", "timeout 5 ", "A=1 B=2 "))
        return f"{before}{name} {' '.join(self.word() for _ in range(self.chance.randrange(4)))}"

    def code(self, depth: int = 3) -> str:
        if depth == 0:
            return self.simple()
        one, two = self.code(depth - 1), self.code(self.chance.randrange(depth))
        shape = self.chance.choice(SHAPES)
        word = self.word()
        quoted = one.replace("'", "'\\''")
        return shape.format(one=one, two=two, word=word, quoted=quoted, simple=self.simple())


SHAPES = (
    "{one}",
    "{one}",
    "{one}; {two}",
    "{one} && {two}",
    "{one} || {two}",
    "{one} | {two}",
    "({one})",
    "{{ {one}; }}",
    "V={word}; {one}",
    "W={word}\n{one}",
    "if {one}; then {two}; fi",
    "if ! {one}; then :; else {two}; fi",
    "! {one}",
    "for V in {word} {word}; do {one}; done",
    "for W in 1 2; do {one}; {two}; done",
    "case {word} in *) {one};; esac",
    "f() {{ {one}; }}; f {word} x",
    "eval '{quoted}'",
    "bash -c '{quoted}'",
    "bash -c '{quoted}' zero {word}",
    "{one} # no\n{two}",
    "bash <<< '{quoted}'",
    "bash <<'EOF'\n{one}\nEOF",
    "cat <<'EOF' | bash\n{one}\nEOF",
    "echo '{quoted}' | bash",
    "printf 'p q' | xargs {simple}",
    "until {one}; do {two}; break; done",
    "X=$({one}); {two}",
    "one `two`; {one}",
    "{one} & wait",
    "[[ -n $V ]] && {one}",
    "export V={word}; {one}",
    "set -- {word} s; {one}",
    "while {one}; do {two}; break; done",
    "{one} \\\n; {two}",
    "time {one}",
    'one "$({one})"',
    "cat < <({one})",
    "declare W={word}; {one}",
    "trap '{quoted}' EXIT",
)


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stubs")
    for name in STUBS:
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    for name in REAL:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


def really_run(command: str, stubs: Path, folder: Path) -> list[list[str]]:
    log = folder.with_name(f"{folder.name}.log")
    log.write_bytes(b"")
    env = {"PATH": str(stubs), "STUB_LOG": str(log), "HOME": "/home/me", "LC_ALL": "C.UTF-8"}
    assert BASH
    subprocess.run(
        [BASH, "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        timeout=20,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    runs = log.read_bytes().decode(errors="replace").split("\2")
    return [run.split("\1")[:-1] for run in runs if run]


def seen_by(words: list[str], recorded: list[list[str]]) -> bool:
    if any(_fits(words, argv) for argv in recorded):
        return True
    # ~name: nobody has those names here, so bash leaves them as they are.
    named = [re.sub("^~(?=[a-z])", "/home/", word) for word in words]
    return named != words and any(_fits(named, argv) for argv in recorded)


def _fits(words: list[str], argv: list[str]) -> bool:
    """Whether a recorded command line stands for a real one; what is not known stands for anything."""
    if any("\0" in w or "\1" in w for w in argv):
        pattern = "\2".join(re.sub("[\0\1]", ".*", re.escape(w)) for w in argv)
        return bool(re.fullmatch(pattern.replace("\2", "\2?"), "\2".join(words), re.DOTALL))
    return len(words) == len(argv) and all(a == b or fnmatchcase(a, b) for a, b in zip(words, argv, strict=True))


def missed(command: str, stubs: Path, folder: Path) -> list[list[str]]:
    recorded: list[list[str]] = []
    found = check(command, root=str(folder), home="/home/me", record=lambda argv: recorded.append(list(argv)))
    if Class.UNCLEAR in found.classes:
        return []  # it asks, and says that it cannot know
    recorded = [[Path(argv[0]).name, *argv[1:]] for argv in recorded]
    return [words for words in really_run(command, stubs, folder) if not seen_by(words, recorded)]


def test_what_bash_runs_the_guard_has_seen(stubs: Path, tmp_path: Path) -> None:
    commands = [Commands(seed).code() for seed in range(150)]
    assert {command: unseen for command in commands if (unseen := missed(command, stubs, tmp_path))} == {}


def test_the_comparison_compares_something(stubs: Path, tmp_path: Path) -> None:
    """Most random commands run something, and are understood."""
    commands = [Commands(seed).code() for seed in range(60)]
    ran = [c for c in commands if really_run(c, stubs, tmp_path)]
    understood = [c for c in ran if Class.UNCLEAR not in check(c, root=str(tmp_path), home="/home/me").classes]
    assert len(ran) > 40
    assert len(understood) > 15


CORNERS = (
    "one 'it'\\''s' \"$(two a)\" b",
    "V='a b'; one $V \"$V\"",
    "one {a,b}{c,d}",
    'f() { one "$@"; }; f "x y" z',
    "o\\ne a",
    "one $'a\\'b'",
    "one \\\n two",
    "one a#b #c",
    "one <<< x",
    "bash -c 'one \"$1\"' zero 'p q'",
    "V=one; $V x",
    "eval one '\"a b\"'",
    'one ${V:-x y} "${V:-x y}"',
    "for i in 1 2; do one $i; done",
    "printf '%s\\n' 'a b' | xargs one",
    "V=abc; one ${V:1} ${V%c} ${V/b/X}",
    "echo b25lIGE= | base64 -d | bash",
    "printf '\\157ne a' | bash",
    "echo 'a eno' | rev | bash",
    "echo pof | tr pof one | bash",
    "cat <<A <<B\nx\nA\ny\nB\none z",
    "cat <<\\EOF\n$(one no)\nEOF\none yes",
    "cat <<EOF\n$(one yes)\nEOF",
    "cat <<-'E'\n\tx\n\tE\none a",
    'one "a\\\nb"',
    "one a; # comment \\\none b",
    "case a in (a|b) one a;& c) one c;; esac",
    "((x = 1)) || one a",
    "one >out; two <out",
    "one 2>&1 | two",
    "{ one a; } | { two b; }",
    "coproc one a",
    "time -p one a",
    "! one a",
    "if :; then one a; elif one b; then :; fi",
    "one ~/x ~+ 'a'~",
    "x=(a 'b c'); one \"${x[@]}\"",
    'one "$(echo a; echo b)"',
    "function g { one $1; }; g a",
    "one </dev/null a b",
    "one a >out b 2>&1 c",
    'V=a W=b; one "$V $W" "x $V"',
    "one - <<E\nx\nE",
    "x=('a b' c*d); one -n \"${x[@]}\" ${#x[@]}",
    "f() { one \"$1\"; }; f 'a b'; f c",
    "time (one a; two)",
    "trap 'one $V' EXIT; V=late",
    "bash <(echo one a)",
    'cd / && one "$(pwd)"',
    "one $(two)$(three)",
)


def test_corners_of_the_grammar(stubs: Path, tmp_path: Path) -> None:
    assert {command: unseen for command in CORNERS if (unseen := missed(command, stubs, tmp_path))} == {}
