"""What guards the agent is found by whatever name a command has for it, and all else is let be."""

from pathlib import Path

import pytest
from guard_places import blocked

from hermes_tool_guard.named import Clear, closed_text

KEPT = ["nothere.yaml", "config.yaml", ".env", "plugins", "cache", "skills"]


class Person:
    """A person's folder: ``hers`` is the home of Hermes, ``work`` holds links to it, what is open may be read."""

    def __init__(self, root: Path) -> None:
        self.root, self.hers, self.work, self.tidy = root, root / "hers", root / "work", root / "hers/skills/tidy"
        for name in ("hers/config.yaml", "hers/.env", "hers/plugins/p.py", "hers/skills/tidy/SKILL.md", "work/sub/x"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("x")
        for name in ("me", "other"):
            (root / "hers/cache/outputs" / name).mkdir(parents=True)
        (root / "link").symlink_to(self.hers)
        (root / "stored.env").write_text("x")
        (self.work / "up").symlink_to(root)
        (self.work / "folder").symlink_to(self.hers)
        (self.work / "skl").symlink_to(self.hers / "skills")
        (self.work / "twin").hardlink_to(self.hers / "config.yaml")
        (self.work / "to-twin").symlink_to("twin")
        (self.work / "pair").hardlink_to(self.work / "sub/x")
        (self.tidy / "evil").symlink_to(self.hers / ".env")
        self.guarded = [*(self.hers / name for name in KEPT), root / "link/lost.db"]
        self.opened = (str(self.hers / "skills"), str(self.hers / "cache/outputs/me"))

    def says(self, command: str, where: str = "work", opened: bool = False) -> str:
        """What a command, in which ``HERS`` stands for the home of Hermes, is blocked by."""
        said = blocked(
            command.replace("HERS", str(self.hers)), str(self.root / where), self.guarded, "hermes",
            self.opened if opened else (),
        )  # fmt: skip
        if "holds the files" in said:
            return "holds"
        return f"twin of {said.split()[5].rstrip(',')}" if "another name" in said else said.partition(" ")[0]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NOT", raising=False)
    return Person(tmp_path)


NAMED = [
    # command, what is named
    ("cat HERS/config.yaml", "config.yaml"),
    ("cat fol${NOT}der/config.yaml", "config.yaml"),
    ("cat fol${NOT}der/c*.yaml", "config.yaml"),
    ("cat $NOT", ""),
    ("truncate $NOT", ""),
    ("cat folder/c?nfig.yaml", "config.yaml"),
    ("cat folder/[c]onfig.yaml", "config.yaml"),
    ("cat folder/*.txt", ""),
    ("cat twin", "twin of config.yaml"),
    ("cat to-twin", "twin of config.yaml"),
    ("cat pair", ""),
    ("cat sub/x sub pair twinn", ""),
    ("cat sub/../twin", "twin of config.yaml"),
    ("cat up/hers/", "holds"),
    ("cat up/hers/.", "holds"),
    ("cat up/hers/none/..", "holds"),
    ("cat up/hers", "holds"),
    ("cat ../link", "holds"),
    ("cat ../link/{a,b}", "holds"),
    ("cat HERS/{a,b}", "holds"),
    ("cat HERS/$NOT", "holds"),
    ("cat HERS/`x`", "holds"),
    ("cat HERS/{config.yaml,%s}" % ("x" * 5_000), "holds"),
    ("cat HERS/{config.yaml,'a\tb'}", "holds"),
    ("cat 'a\tb'/../HERS/config.yaml", ""),
    ("cat 'a\tb/../../hers/config.yaml'", "config.yaml"),
    ("cat sub/{a,b} `x`/{a,b}", ""),
    ("/bin/ls HERS", ""),
    ("/bin/cat HERS", "holds"),
    ("ls HERS > x", "holds"),
    ("ls HERS/.env", ".env"),
    ("wipe HERS/", "holds"),
    ("mv ../hers x", "holds"),
    ("mv x ~", ""),
    ("mv -f sub/a sub/b ~/", ""),
    ("mv sub/hers ~", "holds"),
    ("mv --backup sub/hers ~", "nothere.yaml"),
    ("mv sub/$NOT ~", "nothere.yaml"),
    ("mv sub/. ~", "nothere.yaml"),
    ("mv sub/.env HERS", "holds"),
    ("mv -t ~ sub/hers", "nothere.yaml"),
    ("mv ~ sub", "nothere.yaml"),
    ("find .. -delete", "nothere.yaml"),
    ("find .. -name x -fls y", "nothere.yaml"),
    ("find .. -name x-delete", ""),
    ("chmod 700 ..", ""),
    ("cat --file=HERS/.env", ".env"),
    ("cat x:HERS/.env", ".env"),
    ("cat <HERS/.env", ".env"),
    ("cat x|HERS/.env", ".env"),
    ("D=HERS; cat $D/.env", ".env"),
    ("python -c 'open(\"HERS/plugins/p.py\")'", "it"),
    ("python -c 'open(\"~/hers/plugins/p.py\")'", "it"),
    ("python -c 'open(\"${HOME}/hers/plugins/p.py\")'", "it"),
    ("python -c 'open(\"HERS2\")'", ""),
    ("xpython -c 'open(\"HERS/plugins/p.py\")'", "plugins"),
    ("xpython -c 'of(\"HERS/plugins/p.py\")'", "plugins"),
]  # fmt: skip


def test_a_file_is_known_by_any_name_of_it(person: Person) -> None:
    assert [row for row in NAMED if person.says(row[0]) != row[1]] == []


THERE = [
    # command, where, what is named
    ("cat ..", "hers/skills", "holds"),
    ("cat .", "hers", "holds"),
    ("cat config.yaml", "hers", "config.yaml"),
    ("cat config.yaml nothere.yaml", "work", ""),
    ("cat lost.db", "hers", "lost.db"),
    ("rm -r plugins", "hers", "plugins"),
    ("cat p.py", "hers/plugins", ""),
    ("rm p.py", "hers/plugins", "plugins"),
    ("cat hers", "", "holds"),
    ("cat '' x", "hers", ""),
    ("truncate $NOT", "", ""),
    ("touch new", "hers/plugins", "plugins"),
    ("echo x > new", "hers/plugins", "plugins"),
    ("cp x new", "hers/plugins", "plugins"),
    ("touch new", "hers", ""),
    ("touch new", "work", ""),
]


def test_a_name_alone_is_known_where_it_lies(person: Person) -> None:
    assert [row for row in THERE if person.says(*row[:2]) != row[2]] == []


READ = [
    # command, where, what is named though skills and the own outputs are open
    ("cat skl/tidy/SKILL.md", "work", ""),
    ("cat skl/tidy/evil", "work", ".env"),
    ("cat HERS/cache/outputs/me/x HERS/cache/outputs/me", "work", ""),
    ("cat HERS/cache/outputs/me2", "work", "cache"),
    ("cat HERS/cache/outputs", "work", "cache"),
    ("cat HERS/skills/../.env", "work", ".env"),
    ("perl skl/tidy/run.pl", "work", ""),
    ("perl -pi -e s/a/b/ skl/tidy/SKILL.md", "work", "skills"),
    ("/usr/bin/sed -i s/a/b/ skl/tidy/SKILL.md", "work", "skills"),
    ("sed --in-place s/a/b/ skl/tidy/SKILL.md", "work", "skills"),
    ("sed s/-i/x/ skl/tidy/SKILL.md", "work", ""),
    ("grep -i x skl/tidy/SKILL.md", "work", ""),
    ("cp --target-directory=skl/tidy x", "work", "skills"),
    ("cp -t skl/tidy x", "work", "skills"),
    ("/bin/cp x skl/tidy", "work", "skills"),
    ("cp skl/tidy/SKILL.md --verbose x", "work", ""),
    ("cp skl/tidy/SKILL.md x", "work", ""),
    ("cat x >> skl/tidy/SKILL.md", "work", "skills"),
    ("cat x >| skl/tidy/SKILL.md", "work", "skills"),
    ("ls skl > x", "work", ""),
    ("ls HERS > x", "work", "holds"),
    ("ls HERS HERS/skills/tidy", "work", ""),
    ("echo x >> f", "hers/skills/tidy", "skills"),
    ("echo x > ./f", "hers/skills/tidy", "skills"),
    ("echo x > Xf", "hers/skills/tidy", "skills"),
    ("touch new", "hers/skills/tidy", "skills"),
    ("echo x > /srv/f", "hers/skills/tidy", ""),
    ("echo x > ~/f", "hers/skills/tidy", ""),
    ("echo x > $HOME/f", "hers/skills/tidy", ""),
    ("touch -- new", "hers/skills/tidy", "skills"),
    ("sed -i s/a/b/ SKILL.md", "hers/skills/tidy", "skills"),
    ("tee ''", "hers/skills/tidy", ""),
    ("cat X SKILL.md", "hers/skills/tidy", ""),
    ("cat SKILL.md new", "hers/skills/tidy", ""),
    ("cp SKILL.md /srv/x", "hers/skills/tidy", ""),
    ("cat skills", "hers", ""),
    ("echo x > skills", "hers", "skills"),
    ("echo x > new.txt", "work", ""),
    ("python skl/tidy/run.py HERS/skills/x", "work", ""),
    ("python -c 'open(\"HERS/skills/x\")'", "work", ""),
    ("python -c 'open(\"HERS/skills/../.env\")'", "work", "it"),
    ("python -c 'open(\"HERS/skillsets/x\")'", "work", "it"),
    ("python -c 'open(\"HERS/cache/outputs/other\")'", "work", "it"),
]


def test_what_is_open_may_be_read_and_neither_written_nor_left(person: Person) -> None:
    assert [row for row in READ if person.says(*row[:2], opened=True) != row[2]] == []
    shut = [row for row in READ if not row[2] and "skl/" in row[0] and not person.says(*row[:2])]
    assert shut == [], "it is closed where nothing is open"


def test_code_may_name_what_is_open_to_it(person: Person) -> None:
    hers, (skills, outputs) = person.hers, person.opened
    rows = [
        ("print()", False), (f"open('{skills}/x')", False), (f"open('{skills}')", False),
        (f"open('{outputs}/x')", False),
        (f"open('{skills}/../.env')", True), (f"open('{skills}2')", True), (f"open('{hers}/.env')", True),
        (f"open('{skills}'); open('{hers}/plugins')", True), ("open('~/hers/skills/x')", False),
        ("open('$HOME/hers/.env')", True),
    ]  # fmt: skip
    assert [row for row in rows if bool(closed_text(row[0], person.guarded, person.opened)) is not row[1]] == []
    assert all(closed_text(text, person.guarded) for text, _ in rows[1:])
    assert closed_text(f"open('{hers}/.env')", person.guarded) == (
        f"it names {hers}/.env, which belongs to Hermes itself and is closed to tools"
    )


def test_what_is_closed_stays_so_within_what_is_open(tmp_path: Path) -> None:
    (tmp_path / "box/open/deep").mkdir(parents=True)
    guarded = [tmp_path / "box", tmp_path / "box/open/key", tmp_path / "box/open/deep"]
    opened = (f"{tmp_path}/box/open",)
    for command, free in (("ls box/open", True), ("cat box/open", False), ("ls box", False), ("cat box/open/x", True)):
        assert bool(blocked(command, str(tmp_path), guarded, readable=opened)) is not free, command


def test_a_link_to_a_folder_of_guarded_files_is_not_taken_away(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a/far").symlink_to(tmp_path / "b")
    guarded = [tmp_path / "a/far/lost.db"]
    for command in ("mv a x", "rm -r b", "mv a/far x", "find a -delete"):
        assert blocked(command, str(tmp_path), guarded), command
    assert blocked("mv c x", str(tmp_path), guarded) == ""


def test_a_guarded_file_that_is_a_link_is_guarded_at_both_ends(tmp_path: Path) -> None:
    config, stored = tmp_path / "config.yaml", tmp_path / "stored.yaml"
    stored.write_text("x")
    config.symlink_to(stored)
    for word in ("config.yaml", "stored.yaml", "./stored.yaml"):
        assert blocked(f"cat {word}", str(tmp_path), [config]), word


def test_what_was_found_clear_is_so_for_the_same_use_only(person: Person) -> None:
    for command, named in (
        ("ls skl; rm -r skl", "skills"), ("cat new; tee new", ""), ("echo skl > x; echo x > skl", "skills"),
        ("ls ../hers; cat ../hers", "holds"), ("ls up; cd up; ls hers/.env", ".env"),
        ("cat twin2 twin2; cat x twin", "twin"), ("ls; cat .env; cd ../hers; cat .env", ".env"),
    ):  # fmt: skip
        assert person.says(command, opened=True).split()[0:1] == named.split(), command


def test_among_many_words_each_is_looked_at(person: Person) -> None:
    (person.work / "Odd").symlink_to(person.hers / ".env")
    many = " ".join(f"w{n}" for n in range(80))
    for word, named in (("Odd", ".env"), ("twin", "twin of config.yaml"), ("x", ""), ("..", ""), ("''", "")):
        assert person.says(f"cat {many} {word}") == named, word
    assert person.says(f"cat {many} ..", "hers/skills") == "holds"
    assert person.says(f"cat {many} .", "hers") == "holds"
    gone = Clear()
    assert not any(gone.there(f"w{n}", str(person.root / "gone")) for n in range(80)), "a folder that cannot be listed"
    here = Clear()
    assert [here.there("twin", str(person.work)) for _ in range(80)] == [True] * 80
    root = Clear()
    assert [root.there(name, "") for name in ["no such name", "etc"] * 40] == [False, True] * 40


@pytest.mark.parametrize("odd", ["a\0b", "*\0", "$X\0", "a\ud800b", "\udfff"])
def test_what_no_system_takes_for_a_name_is_refused_in_words(person: Person, odd: str) -> None:
    for command in (f"cat {odd}", f"rm -rf {odd}/", f"cd {odd} && rm -r x", f"mv {odd}/* y", f"echo x >{odd}"):
        assert "no command can have" in blocked(command, str(person.work), person.guarded)


def test_a_name_of_other_bytes_than_text_is_a_name(person: Person) -> None:
    assert blocked("cat caf\udce9", str(person.work), person.guarded) == ""
