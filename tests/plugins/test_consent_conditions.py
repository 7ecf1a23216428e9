"""Each condition on the way to a yes, by itself: who a plugin is, what the program allows, what the person said."""

import json
from pathlib import Path

import pytest

from hermes_core.errors import UserError
from hermes_core.plugins.consent import Consent, asked
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.manifest import parse_manifest

LABEL = "tool/board"


def plugin(distribution: str = "dist", *, path: str = "/site/board", **tables: object) -> Installed:
    data = {"api": 1, "name": "board", "kind": "tool", "summary": "For a test.", **tables}
    manifest = parse_manifest(data, where=LABEL)
    return Installed(
        label=LABEL, manifest=manifest, module="board", path=path, distribution=distribution, version="1.0"
    )


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "home" / "plugins.lock"


OURS = {"builtin": ["dist"]}
NEEDED = {"required": ["dist"]}
BOUNDED = {"allowed": ["acme-*"]}
SAFE = {"safe_mode": True}
ASKED, OFF, ON = "never_asked", "disabled", "enabled"
STATES = [
    # what is in the lock, from whom; how the program is made; what comes of it
    ("", "", {}, ASKED, "it was never enabled"),
    ("", "", OURS, "builtin", ""),
    ("", "", NEEDED, "builtin", ""),
    ("", "", BOUNDED, OFF, "this program does not allow it"),
    ("", "", SAFE, OFF, "safe mode"),
    (ON, "dist", {}, ON, ""),
    (ON, "dist", OURS, "builtin", ""),
    (ON, "dist", BOUNDED, OFF, "this program does not allow it"),
    (ON, "dist", SAFE, OFF, "safe mode"),
    (ON, "other", {}, "foreign", "you enabled tool/board from other, this one is from dist"),
    (ON, "other", OURS, "builtin", ""),
    (OFF, "dist", {}, OFF, "you disabled it on "),
    (OFF, "dist", OURS, OFF, "you disabled it on "),
    (OFF, "dist", NEEDED, "builtin", ""),
    (OFF, "dist", SAFE, OFF, "you disabled it on "),
    (OFF, "other", {}, ASKED, "it was never enabled"),
    (OFF, "other", OURS, "builtin", ""),
    ("", "", {**OURS, **BOUNDED}, OFF, "this program does not allow it"),
    ("", "", {**NEEDED, **BOUNDED}, "builtin", ""),
    ("", "", {**OURS, **SAFE}, "builtin", ""),
    ("", "", {**NEEDED, **SAFE}, "builtin", ""),
]


@pytest.mark.parametrize(("said", "owner", "program", "state", "reason"), STATES)
def test_where_a_plugin_stands(lock: Path, said: str, owner: str, program: dict, state: str, reason: str) -> None:
    if said:
        before = Consent(lock)
        (before.enable if said == ON else before.disable)(plugin(owner))
    found = Consent(lock, **program).state(plugin())
    assert (found, found.usable) == (state, state in ("enabled", "builtin"))
    assert found.reason.startswith(reason)
    assert bool(found.reason) is bool(reason)


def test_a_file_of_the_person_needs_no_permission_of_the_program_and_is_never_its_own(lock: Path) -> None:
    file = plugin("", path="/home/me/board.py")
    everything = {"builtin": ["*"], "required": ["*"]}
    for program in (BOUNDED, everything):
        consent = Consent(lock.with_name(f"{len(program)}.lock"), **program)
        assert consent.state(file) == ASKED
        consent.enable(file)
        assert consent.state(file) == ON
        consent.disable(file)
        assert consent.state(file) == OFF
    assert not Consent(lock, **everything).builtin(file)


def test_what_the_program_does_not_allow_is_not_enabled_unless_it_needs_it(lock: Path) -> None:
    with pytest.raises(UserError, match="This program does not allow dist"):
        Consent(lock, **BOUNDED).enable(plugin())
    assert not lock.exists()
    Consent(lock, **BOUNDED, **NEEDED).enable(plugin())
    Consent(lock, allowed=["other", "dist"]).enable(plugin())
    with pytest.raises(UserError, match="cannot be disabled"):
        Consent(lock, **NEEDED).disable(plugin())
    assert Consent(lock).state(plugin()) == ON


def test_what_is_builtin_is_so_by_either_list(lock: Path) -> None:
    assert [Consent(lock, **program).builtin(plugin()) for program in ({}, OURS, NEEDED, BOUNDED)] == [
        False, True, True, False,
    ]  # fmt: skip


GROWN = [
    ({"permissions": {"secrets": ["A"]}}, "read the secret A"),
    ({"permissions": {"kernel": ["llm.call"]}}, "call models on your account"),
    ({"permissions": {"network": ["good.org"]}}, "connects to good.org"),
    ({"permissions": {"processes": ["git"]}}, "starts git"),
    ({"permissions": {"files": ["~/notes"]}}, "opens ~/notes"),
    ({"contributes": {"tools": ["one"]}}, "add tools one"),
    ({"hooks": {"use": ["admit"]}}, "take part in admit"),
]


@pytest.mark.parametrize(("more", "said"), GROWN, ids=[said for _, said in GROWN])
def test_whatever_it_asks_for_more_is_asked_about(lock: Path, more: dict, said: str) -> None:
    consent = Consent(lock)
    consent.enable(plugin())
    state = consent.state(plugin(**more))
    assert (state, state.difference, state.reason) == ("changed", (said,), f"now also: {said}")
    assert not state.usable
    [fault] = consent.faults(Index([plugin(**more)]))
    assert (fault.plugin, fault.phase, fault.error) == (LABEL, "consent", f"now also: {said}")
    consent.enable(plugin(**more))
    assert [consent.state(plugin(**more)), consent.state(plugin())] == [ON, ON]
    assert consent.faults(Index([plugin(**more)])) == []


def test_growth_of_what_is_our_own_is_not_asked_about(lock: Path) -> None:
    Consent(lock).enable(plugin())
    assert Consent(lock, **OURS).state(plugin(hooks={"use": ["admit"]})) == "builtin"


def test_a_disabled_plugin_that_is_gone_is_not_missed_and_one_of_others_is_told_of(lock: Path) -> None:
    consent = Consent(lock)
    consent.disable(plugin())
    assert consent.faults(Index(())) == []
    consent.enable(plugin("other"))
    [fault] = consent.faults(Index([plugin()]))
    assert (fault.phase, fault.hint) == ("consent", "hermes plugins enable tool/board")
    assert "from other, this one is from dist" in fault.error


def test_who_wins_a_clash(lock: Path) -> None:
    consent = Consent(lock, builtin=["b-*"], required=["r"])
    consent.enable(plugin("mine"))
    assert consent.preferred() == ("r", "b-*", "mine")
    consent.disable(plugin("mine"))
    assert consent.preferred() == ("r", "b-*")


def test_what_is_forgotten_is_that_of_one_distribution(lock: Path) -> None:
    consent = Consent(lock)
    consent.enable(plugin())
    for name in ("dist", "other"):
        consent.remember_request(name, {"requirement": f"{name}>=1"})
    consent.forget("other")
    assert [*consent.wanted()] == ["dist"]
    assert consent.state(plugin()) == ON
    consent.forget("dist")
    consent.forget("dist")
    assert (consent.wanted(), consent.state(plugin())) == ({}, ASKED)


def test_what_was_asked_for_is_kept_as_it_was_noted(lock: Path) -> None:
    consent, row = Consent(lock), {"requirement": "b>=1", "only_binary": False, "later": [1]}
    consent.remember_request("b", row)
    consent.remember_request("a", {})
    assert [*Consent(lock).wanted().items()] == [*consent.wanted().items()] == [("a", {}), ("b", row)]


def test_the_file_and_its_folder_are_nobody_elses(lock: Path) -> None:
    Consent(lock).enable(plugin(permissions={"secrets": ["A"]}))
    assert (lock.parent.stat().st_mode & 0o777, lock.stat().st_mode & 0o777) == (0o700, 0o600)
    row = json.loads(lock.read_text())["plugins"][LABEL]
    assert row == {
        "granted": ["secrets:A"], "owner": "dist", "since": row["since"], "state": "enabled", "version": "1.0",
    }  # fmt: skip
    Consent(lock).disable(plugin())
    assert "granted" not in json.loads(lock.read_text())["plugins"][LABEL]


def test_a_file_that_broke_meanwhile_is_not_written_over(lock: Path) -> None:
    consent = Consent(lock)
    consent.enable(plugin())
    lock.write_text("{")
    for change in (
        lambda: consent.disable(plugin()),
        lambda: consent.forget("dist"),
        lambda: consent.remember_request("a", {}),
    ):
        with pytest.raises(UserError, match="nothing was changed"):
            change()
    assert lock.read_text() == "{"
    assert consent.state(plugin()) == ON, "what was read at the start still holds"
    [fault, *_] = Consent(lock).faults(Index(()))
    assert (fault.plugin, fault.phase) == ("plugins.lock", "consent")
    assert Consent(lock).state(plugin()) == ASKED


def test_a_file_that_cannot_be_read_enables_nothing_and_says_why(lock: Path) -> None:
    lock.mkdir(parents=True)
    consent = Consent(lock)
    assert consent.state(plugin()) == ASKED
    [fault] = consent.faults(Index(()))
    assert fault.error.startswith("cannot be read: ")
    with pytest.raises(UserError, match="cannot be read"):
        consent.enable(plugin())


def test_a_plugin_without_a_manifest_asks_for_nothing() -> None:
    assert asked(None) == {}
