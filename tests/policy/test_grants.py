"""What a lasting yes covers: as much as its words say, and nothing that the first call did not do."""

import os
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.agent.policy.grants import Case, Rule, covered, offer
from hermes_core.kinds import Tool
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, ToolCall
from hermes_tool_guard.line import plain
from hermes_tool_guard.parts import Ground, for_grants

EXECUTE = frozenset({Effect.EXECUTE})


async def _run(*_: object) -> str:
    return ""


def case(
    command: str = "", *, cwd: str = "/work/p", effects=EXECUTE, keys=(), name="terminal", machine="m", **more
) -> Case:
    place = FakeWorkspace()
    place.cwd = cwd
    arguments = {**({"command": command} if command else {}), **more}
    own = Tool(name=name, description="x", params=object, run=_run, toolset="t", effects=frozenset(effects))
    call = ToolCall(id="1", name=name, arguments=arguments)
    return told(Case(call=call, tool=own, effects=own.effects, keys=keys, workspace=place, machine=machine))


def told(one: Case) -> Case:
    """A case with what the guard says of its command."""
    if one.command is None:
        return one
    commands, lasting = for_grants(one.command, Ground(one.folder, Feature.LOCAL in one.workspace.features))
    return evolve(one, commands=commands, lasting=lasting)


def rules(*cases: Case) -> list[Rule]:
    return [rule for one in cases for rule, _, _ in offer(one).rules]


@pytest.mark.parametrize(
    ("command", "words", "always"),
    [
        ("git push", "`git push` in /work/p (m)", True),
        ("git push origin main", "`git push origin …` in /work/p (m)", True),
        ("git push --force origin", "`git push --force origin …` in /work/p (m)", True),
        ("git  push", "`git push` in /work/p (m)", True),
        ("cd sub && git push", "`git push` in /work/p/sub (m)", True),
        ("git add -A && git commit -m 'a b'", "`git add -A …` in /work/p (m); `git commit -m …` in /work/p (m)", True),
        ("npm publish", "exactly `npm publish` in /work/p (m)", True),
        ("rm -r 'a b'", "exactly `rm -r 'a b'` in /work/p (m)", True),
        ("git log | head", "exactly `git log | head` in /work/p (m)", True),
        ("git -c core.x=y push", "exactly `git -c core.x=y push` in /work/p (m)", True),
        ("git push https://evil.example/x", "exactly `git push https://evil.example/x` in /work/p (m)", True),
        ("git add ../other", "exactly `git add ../other` in /work/p (m)", True),
        ("python -c 'x'", "exactly `python -c 'x'` in /work/p (m)", False),
        ("python3.12 x.py", "exactly `python3.12 x.py` in /work/p (m)", False),
        ("sh -c 'git push'", "exactly `sh -c 'git push'` in /work/p (m)", False),
        ("sudo git push", "exactly `sudo git push` in /work/p (m)", False),
        ("git push && sudo ls", "exactly `git push && sudo ls` in /work/p (m)", False),
        ("git log | sh", "exactly `git log | sh` in /work/p (m)", False),
        ("ls | xargs rm", "exactly `ls | xargs rm` in /work/p (m)", False),
        ("eval ls", "exactly `eval ls` in /work/p (m)", False),
        ("ssh host ls", "exactly `ssh host ls` in /work/p (m)", False),
        ("./deploy.sh", "exactly `./deploy.sh` in /work/p (m)", False),
        ("echo x > y", "exactly `echo x > y` in /work/p (m)", False),
        ("git push $REMOTE", "exactly `git push $REMOTE` in /work/p (m)", False),
        ("git push $(cat x)", "exactly `git push $(cat x)` in /work/p (m)", False),
        ("git add *", "exactly `git add *` in /work/p (m)", False),
        ("A=1 git push", "exactly `A=1 git push` in /work/p (m)", False),
        ("git push &", "exactly `git push &` in /work/p (m)", False),
        ("xsudo git push", "exactly `xsudo git push` in /work/p (m)", True),
        ("xsh git push", "exactly `xsh git push` in /work/p (m)", True),
        ("cd sub", "exactly `cd sub` in /work/p (m)", True),
        ("cd && git push", "exactly `cd && git push` in /work/p (m)", True),
        ("cd sub more && git push", "exactly `cd sub more && git push` in /work/p (m)", True),
        ("cd - && git push", "exactly `cd - && git push` in /work/p (m)", True),
        ("cd -P && git push", "exactly `cd -P && git push` in /work/p (m)", True),
        ("cd sub- && git push", "`git push` in /work/p/sub- (m)", True),
        ("cd sub && cd deep && git push", "`git push` in /work/p/sub/deep (m)", True),
        ("git push && pushd sub", "exactly `git push && pushd sub` in /work/p (m)", True),
        ("cd /etc && git push", "exactly `git push` in /etc (m)", True),
        ("git commit -m", "exactly `git commit -m` in /work/p (m)", True),
        ("git", "exactly `git` in /work/p (m)", True),
        ("git clone x", "exactly `git clone x` in /work/p (m)", True),
        ("echo 'é'", "exactly `echo 'é'` in /work/p (m)", True),
        ("echo " + "x" * 155, f"exactly `echo {'x' * 155}` in /work/p (m)", True),
        ("echo " + "x" * 156, f"exactly `echo {'x' * 155}…` in /work/p (m)", True),
    ],
)
def test_what_is_offered_and_how_it_reads(command: str, words: str, always: bool) -> None:
    found = offer(case(command))
    assert (found.words, "always" in found.choices) == (words, always)
    assert covered(case(command), rules(case(command)))
    for rule in rules(case(command)):
        assert Rule.read(rule.text()) == rule


FREE = {  # the names behind these may be others; those behind the next ones from the second on
    "git": "add branch cherry-pick commit diff log merge revert show status switch tag",
    "docker": "images inspect logs ps restart start stop", "kubectl": "logs", "systemctl": "status",
}  # fmt: skip
SECOND = {"git": "fetch pull push stash", "kubectl": "describe get"}


def test_which_names_behind_a_command_are_fixed() -> None:
    free = [f"{program} {sub}" for program, subs in FREE.items() for sub in subs.split()]
    first = [f"{program} {sub}" for program, subs in SECOND.items() for sub in subs.split()]
    rows = [(f"{one} a", f"{one} {later}", True) for one in free for later in ("a", "b", "b c", "")]
    rows += [(f"{one} a b", f"{one} {later}", later[:1] == "a") for one in first for later in ("a c", "a", "b b", "b")]
    rows += [(f"{one} a", f"{one} b", False) for one in ("docker run", "git clone", "kubectl exec", "systemctl stop")]
    assert [row for row in rows if covered(case(row[1]), rules(case(row[0]))) is not row[2]] == []


@pytest.mark.parametrize(
    ("granted", "later", "allowed"),
    [
        ("git push origin main", "git push origin dev", True),
        ("git push origin main", "cd sub && git push origin dev", True),
        ("git push origin main", "git push", False),
        ("git push origin main", "git push other main", False),
        ("git push origin main", "git push --force origin main", False),
        ("git push origin main", "git push origin :main", False),
        ("git push origin main", "git push origin +main", False),
        ("git push origin main", "git push origin main; ls", False),
        ("git push origin main", "git push origin main | sh", False),
        ("git push origin main", "git push origin main > x", False),
        ("git push origin main", "cd /etc && git push origin main", False),
        ("git push origin main", "cd .. && git push origin main", False),
        ("git push origin main", "git push origin ../../x", False),
        ("git push origin main", "/tmp/git push origin main", False),
        ("git push origin main", "PATH=. git push origin main", False),
        ("git push origin main", "git -C /etc push origin main", False),
        ("git push origin main", "sudo git push origin main", False),
        ("git push origin main", "git fetch origin main", False),
        ("git push", "git push origin", False),
        ("git push --force origin", "git push origin", True),
        ("git commit -m x", "git commit -m 'anything; at all'", True),
        ("git commit -m x", "git commit -F /etc/passwd", False),
        ("git commit -m x", "git commit --amend -m x", False),
        ("git commit -m x", "git commit", True),
        ("npm publish", "npm  publish", True),
        ("npm publish", "npm publish --tag x", False),
        ("npm publish", "cd sub && npm publish", False),
        ("git add a && git push", "git push && git add b", True),
        ("git add a && git push", "git push; git add b || git push", True),
        ("git add a && git push", "git push | git add b", False),
        ("echo x > y", "echo  x > y", False),
        ("cd sub && git push", "git push", False),
        ("cd sub; git push", "cd sub; git push", True),
        ("cd sub; git push", "cd sub && git push", False),
        ("cd sub- && git push", "cd ./sub- && git push", True),
        ("git commit -m x", "git commit -m", False),
        ("git commit -am x", "git commit -am y", True),
        ("git commit --message x", "git commit --message y", True),
        ("git commit --amend", "git commit --amend '; ls'", False),
        ("git tag -m x v1", "git tag -m y v2", True),
        ("git branch -m x", "git branch -m '; ls'", False),
    ],
)
def test_what_a_grant_allows_later(granted: str, later: str, allowed: bool) -> None:
    assert covered(case(later), rules(case(granted))) is allowed


def test_where_and_how_else_it_is_called_matters() -> None:
    push = rules(case("git push"))
    assert covered(case("git push", timeout=9), push)
    assert covered(case("git push", workdir="sub"), push)
    assert covered(case("git push", stdin=""), push)
    assert not covered(case("git push", stdin="", background=True), push)
    for other in (
        case("git push", cwd="/work/q"),
        case("git push", cwd="/work/project"),
        case("git push", workdir="/etc"),
        case("git push", background=True),
        case("git push", stdin="y"),
        case("git push", machine="ssh"),
        case("git push", effects={Effect.EXECUTE, Effect.SEND}),
    ):
        assert not covered(other, push)


def test_a_grant_is_kept_as_it_was_written_by_earlier_versions() -> None:
    [rule] = rules(case("git push origin main", note="ü", background=True))
    assert rule.text() == (
        '{"effects":["execute"],"folder":"/work/p","kind":"run","machine":"m","options":[],'
        '"rest":"{\\"background\\": true, \\"note\\": \\"\\u00fc\\"}","words":["git","push","origin"]}'
    )
    assert Rule.read(rule.text()) == rule
    assert covered(case("git push origin dev", background=True, note="ü"), [rule])
    assert [Rule.read(text) for text in ("", "[]", "3", "{}", '{"kind": "run"}', '{"kind": 1, "more": 2}')] == [
        None
    ] * 6
    asked = case(name="send", effects={Effect.SEND}, to="ü", text=2)
    assert [one.words for one in rules(asked)] == [("send", '{"text": 2, "to": "ü"}')]
    odd = case(name="send", effects={Effect.SEND}, to=Path("x"))
    assert [one.words for one in rules(odd)] == [("send", '{"to": "x"}')], "no argument is too strange to be kept"


def test_a_grant_that_is_too_long_to_be_kept_is_not_offered() -> None:
    size = 8_000 - len(rules(case("npm "))[0].text())
    assert len(rules(case("npm " + "x" * (size - 3)))[0].text()) == 8_000
    for command in ("npm " + "x" * (size - 2), "npm x && npm " + "x" * 8_000):
        found = offer(case(command))
        assert (found.rules, found.words, found.choices) == ((), "", ("once", "deny"))


def test_a_call_that_was_allowed_to_the_letter_is_so_in_the_same_folder_only() -> None:
    look = case(name="look", effects={Effect.READ_FILES}, keys=("file:a",), path="a")
    there = case(name="look", effects={Effect.READ_FILES}, keys=("file:a",), path="a", cwd="/work/q")
    assert covered(look, rules(look))
    assert not covered(there, rules(look))
    send = case(name="send", effects={Effect.SEND}, to="ann")
    assert covered(case(name="send", effects={Effect.SEND}, to="ann", cwd="/work/q", machine="n"), rules(send))


def test_a_command_is_granted_where_the_shell_went_to() -> None:
    class Wandering(FakeWorkspace):
        cwd, shell_cwd = "/work/p", "/work/other"

    here = case("git push")
    there = told(evolve(here, workspace=Wandering()))
    assert offer(there).words == "`git push` in /work/other (m)"
    assert not covered(there, rules(here))
    assert offer(case("git push", workdir="", cwd="/work/p")).words == "`git push` in /work/p (m)"
    assert offer(case("git push", workdir=7)).words == "`git push` in /work/p (m)"
    assert offer(case("git push", cwd="")).words == "exactly `git push` in / (m)"


def test_a_path_that_no_system_has_is_taken_as_it_is_written(tmp_path: Path) -> None:
    place = FakeWorkspace(folder=tmp_path)
    one = case(name="write_file", effects={Effect.WRITE_FILES}, keys=("file:a\0b",), path="a\0b")
    odd = evolve(one, workspace=place)
    assert odd.path("a\0b", "/srv/x") == "/srv/x/a\0b"
    assert covered(odd, rules(odd))


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("/etc/nginx/nginx.conf", "write files in /etc/nginx (m)"),
        ("/etc/hosts", "write /etc/hosts (m)"),
        pytest.param(f"{Path.home()}/notes.txt", f"write {Path.home()}/notes.txt (m)", id="a file of the home"),
        ("/srv/app/.ssh/config", "write /srv/app/.ssh/config (m)"),
        ("/x", "write /x (m)"),
        ("/tmp/x", "write /tmp/x (m)"),
        ("/workspace/x", "write /workspace/x (m)"),
    ],
)
def test_files(place: str, words: str) -> None:
    def write(path: str, effects=(Effect.WRITE_FILES,)) -> Case:
        return case(name="write_file", effects=effects, keys=(f"file:{path}",), path=path)

    granted = offer(write(place))
    assert granted.words == words
    own = [rule for rule, _, _ in granted.rules]
    assert covered(write(place), own)
    folder = os.path.dirname(place)  # noqa: PTH120
    assert covered(write(f"{folder}/other".replace("//", "/")), own) is words.startswith("write files")
    assert not covered(write(f"{folder}/../x"), own)
    assert not covered(write(folder), own), "the folder itself is no file in it"
    assert not covered(evolve(write(place), machine="other"), own)
    assert not covered(write(f"{folder}er/x"), own)
    assert not covered(write(place, (Effect.WRITE_FILES, Effect.SEND)), own)


def test_several_files_are_granted_and_covered_each_by_itself() -> None:
    def write(*paths: str, effects: tuple[Effect, ...] = (Effect.WRITE_FILES, Effect.READ_FILES)) -> Case:
        keys = [path if ":" in path else f"file:{path}" for path in paths]
        return case(name="write_file", effects=effects, keys=keys, path="p")

    own = rules(write("/srv/a/x", "/srv/b/x", "/srv/a/x"))
    assert offer(write("/srv/a/x", "/srv/b/x", "/srv/a/x")).words.count("write files in") == 2
    assert covered(write("/srv/b/y", "/srv/a/y"), own)
    assert not covered(write("/srv/a/y", "/srv/c/y"), own)
    assert not covered(write("/srv/c/y", "/srv/a/y"), own)
    for other in (
        write("/srv/a/y", "host:good.org"),
        write("/srv/a/y", effects=(Effect.WRITE_FILES, Effect.SCHEDULE)),
        write("/srv/a/y", effects=(Effect.READ_FILES,)),
        write(),
    ):
        assert offer(other).words == "exactly write_file(p)"
        assert not covered(other, own)


def test_a_link_out_of_a_granted_folder_leads_out_of_the_grant(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "out").symlink_to("/etc")

    def write(path: str) -> Case:
        one = case(name="write_file", effects={Effect.WRITE_FILES}, keys=(f"file:{path}",), path=path)
        real = FakeWorkspace(folder=tmp_path)
        return Case(
            **{name: getattr(one, name) for name in ("call", "tool", "effects", "keys", "machine")}, workspace=real
        )

    own = rules(write("in/x"))
    assert covered(write("in/deep/y"), own)
    assert not covered(write("in/out/nginx.conf"), own)


def test_hosts_and_other_calls() -> None:
    def fetch(*hosts: str) -> Case:
        return case(name="fetch", effects={Effect.NETWORK}, keys=[f"host:{h}" for h in hosts], url="u")

    assert offer(fetch("example.org")).words == "open example.org"
    own = rules(fetch("example.org"))
    assert covered(fetch("example.org"), own)
    assert not covered(fetch("evil.example"), own)
    assert not covered(fetch("example.org", "evil.example"), own)
    assert not covered(fetch("evil.example", "example.org"), own)
    assert covered(fetch("example.org", "example.org"), own)
    both = rules(fetch("a.org", "b.org"))
    assert covered(fetch("b.org"), both)
    assert offer(fetch("a.org", "b.org")).words == "open a.org; open b.org"
    mixed = case(name="fetch", effects={Effect.NETWORK}, keys=["host:a.org", "file:x"], url="u")
    assert offer(mixed).words == "exactly fetch(u)"
    assert not covered(mixed, rules(fetch("a.org")))
    nowhere = case(name="fetch", effects={Effect.NETWORK}, url="u")
    assert offer(nowhere).words == "exactly fetch(u)"
    more = case(name="fetch", effects={Effect.NETWORK, Effect.SEND}, keys=["host:a.org"], url="u")
    assert offer(more).words == "exactly fetch(u)"
    send = case(name="send", effects={Effect.SEND}, to="ann", text="hi")
    assert offer(send).choices == ("once", "session", "deny")
    assert offer(send).words == "exactly send(to=ann, text=hi)"
    assert not covered(case(name="send", effects={Effect.SEND}, to="ann", text="ho"), rules(send))
    assert not covered(case(name="other", effects={Effect.SEND}, to="ann", text="hi"), rules(send))


# --- whatever is granted ----------------------------------------------------------------------------------------------

PROGRAMS = ["git", "npm", "rm", "sudo", "sh", "python", "docker", "kubectl", "cd", "echo", "./x", "/bin/git", "xargs"]
WORDS = ["push", "pull", "add", "commit", "get", "logs", "pods", "-c", "-m", "--force", "-rf", "origin", "evil", "main"]
WORDS += [
    ".",
    "..",
    "../x",
    "/etc",
    "sub",
    "'a b'",
    "$X",
    "*",
    "x:y",
    "https://evil/x",
    "~",
    "user@host:x",
    "-C",
    "-e=x",
]
JOINTS = [" && ", "; ", " | ", " || ", "\n", " & ", " > ", " $(", "`"]
SINGLE = st.builds(
    lambda p, w: " ".join([p, *w]), st.sampled_from(PROGRAMS), st.lists(st.sampled_from(WORDS), max_size=4)
)
LINES = st.builds(
    lambda first, more: first + "".join(j + s for j, s in more),
    SINGLE,
    st.lists(st.tuples(st.sampled_from(JOINTS), SINGLE), max_size=2),
)
EVERYDAY = [
    "git push origin main",
    "git add -A && git commit -m 'a b'",
    "kubectl get pods",
    "cd sub && git push",
    "npm i",
]
FIRST = st.one_of(LINES, st.sampled_from(EVERYDAY))


@st.composite
def pairs(draw) -> tuple[str, str]:
    """A command, and another that is often nearly the same."""
    first = draw(FIRST)
    if draw(st.integers(0, 3)) == 0:
        return first, draw(LINES)
    words, edit = (
        first.split(" "),
        draw(st.sampled_from(["insert", "replace", "drop", "append", "prepend", *["name"] * 4])),
    )
    at, word = draw(st.integers(0, len(words) - 1)), draw(st.sampled_from([*WORDS, *PROGRAMS, "&&", ";", "|"]))
    if edit == "name":
        return first, f"{first} {draw(st.sampled_from(['dev', 'sub/x', '.', *WORDS]))}"
    if edit == "append":
        return first, first + draw(st.sampled_from(JOINTS)) + draw(SINGLE)
    if edit == "prepend":
        return first, draw(SINGLE) + draw(st.sampled_from(JOINTS)) + first
    words[at : at + (edit != "insert")] = [] if edit == "drop" else [word]
    return first, " ".join(words)


FOLDERS = st.sampled_from(["/work/p", "/work/p", "/work/p/sub", "/work/q/r", "/etc"])
EFFECTS = st.frozensets(st.sampled_from([Effect.SEND, Effect.NETWORK, Effect.WRITE_FILES]), max_size=2)


def programs(command: str) -> set[str]:
    return {one.words[0] for one in plain(command) or ()} - {"cd"}


def outside(command: str, folder: str, root: str) -> bool:
    """Whether a plain command names, or runs in, a place outside of a folder."""
    for one in plain(command) or ():
        if one.words[0] == "cd":
            folder = os.path.normpath(os.path.join(folder, *one.words[1:2]))  # noqa: PTH118
        for word in (".", *one.words[1:]):
            path = os.path.normpath(os.path.join(folder, word))  # noqa: PTH118
            if not word.startswith("-") and path != root and not path.startswith(f"{root.rstrip('/')}/"):
                return True
    return False


@settings(max_examples=500, deadline=None)
@given(pairs(), FOLDERS, EFFECTS, st.one_of(st.none(), FOLDERS), st.one_of(st.none(), EFFECTS))
@pytest.mark.long
def test_a_grant_never_reaches_further_than_what_was_asked(pair, here, does, there, does_later) -> None:
    first, later = pair
    there, does_later = there or here, does if does_later is None else does_later
    granted = case(first, cwd=here, effects=EXECUTE | does)
    then = case(later, cwd=there, effects=EXECUTE | does_later)
    assert covered(granted, rules(granted)) or not rules(granted)
    if not covered(then, rules(granted)) or (first, here) == (later, there):
        return
    assert does_later <= does, "no more effects"
    if plain(first) is None or plain(later) is None:
        assert (first, here) == (later, there), "what is not plain is the same to the letter"
        return
    assert programs(later) <= programs(first), "no other program"
    assert not outside(later, there, here) or outside(first, here, here), "no place outside"


@settings(max_examples=500, deadline=None)
@given(st.lists(LINES, max_size=3), LINES)
@pytest.mark.long
def test_a_line_is_granted_when_each_of_its_commands_is(granted, later) -> None:
    own = rules(*map(case, granted))
    singles = plain(later)
    if covered(case(later), own) and singles and later not in granted and "|" not in later and "cd" not in later:
        assert all(covered(case(" ".join(_quoted(s.words))), own) for s in singles)


def _quoted(words):
    return [f"'{w}'" if " " in w else w for w in words]
