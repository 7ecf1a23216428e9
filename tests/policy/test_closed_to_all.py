"""What neither a mode nor a yes opens: the conditions of hard blocks and of guests' rules, each by itself."""

import os
import re
import shlex
from pathlib import Path

import pytest

from hermes_core.agent.policy.guests import Guests
from hermes_core.agent.policy.hardblocks import LONGEST, blocked_command, program_words
from hermes_core.kinds import Tool
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, Principal, Session

WRAPPED = [
    "sudo {}", "sudo -u root -g wheel {}", "doas -u root {}", "env -i A=1 {}", "env -u HOME {}", "nice -n 5 {}",
    "ionice -c 3 -n 7 {}", "timeout 5 {}", "timeout -k 9 -s KILL 5 {}", "time {}", "time -f %e -o log {}",
    "stdbuf -o L {}", "xargs -I X -n 1 {}", "nohup {}", "setsid -f {}", "command {}", "exec -a name {}", "builtin {}",
    "busybox {}", "chroot /mnt {}", "flock -w 5 lock {}", "eval {}", "! {}", "sudo nice -n 5 env A=1 timeout 5 {}",
    "A=1 B=2 {}", "/usr/bin/sudo {}",
]  # fmt: skip
COMPOUND = [
    "if {}; then true; fi", "if true; then {}; fi", "if a; then b; elif {}; then c; fi", "if a; then b; else {}; fi",
    "while {}; do true; done", "until {}; do true; done", "for x in 1 2; do {}; done", "while true; do {}; done",
    "{{ {}; }}", "( {} )", "true && {}", "false || {}", "ls | {}", "sleep 9 & {}", "ls\n{}", "{}; ls", "{} && ls",
    "echo $({})", "echo `{}`", "f() {{ {}; }}; f", "sh -c '{}'", "sudo bash -lc '{}'", "eval '{}'", "bash <<< '{}'",
    "sh -c '{} && ls'", "bash -lc 'ls; {}'", "eval '{}; ls'", "bash <<< '{}; ls'", "sh -c 'ls; sh -c \"{}; ls\"; ls'",
    "sh -c \"eval '{}'\"", "if true; then sudo sh -c 'cd /tmp && {}'; fi",
]  # fmt: skip
EXAMPLES = ["rm -rf ~", "mkfs.ext4 /dev/sda1", "cat /srv/hermes/.env", "hermes config set policy.mode off"]
GUARDED = [Path("/srv/hermes/config.yaml"), Path("/srv/hermes/.env")]


@pytest.mark.parametrize("command", EXAMPLES)
def test_whatever_stands_around_a_blocked_command_it_is_blocked(command: str) -> None:
    missed = [form for form in (*WRAPPED, *COMPOUND) if not blocked_command(form.format(command), "/work", GUARDED)]
    assert not missed
    blocked = [form for form in (*WRAPPED, *COMPOUND) if blocked_command(form.format("ls -l x"), "/work", GUARDED)]
    assert not blocked, "an everyday command in the same place is left to the policy"


@pytest.mark.parametrize("form", WRAPPED)
def test_a_wrapper_is_taken_off_with_its_options(form: str) -> None:
    assert program_words(form.format("rm -r x y")) == ["rm", "-r", "x", "y"]


MOUNTED = [
    ("rm -rf /srv/data", True),
    ("rm -rf build /srv/data", True),
    ("rm -rf build dist /srv/data out", True),
    ("rm -rf /srv/data/", True),
    ("rm -rf /srv/data/*", True),
    ("rm -rf ../../srv/data", True),
    ("cd /srv && rm -rf build data", True),
    ("mv /srv/data /tmp/x", True),
    ("mv a /srv/data b /tmp/x", True),
    ("mv a b /srv/data", False),
    ("find build /srv/data -delete", True),
    ("chmod -R 777 build /srv/data", True),
    ("chown -R me build && chown -R me /srv/data", True),
    ("shred build /srv/data", True),
    ("chmod 755 /srv/data", False),
    ("rm /srv/data", False),
    ("rm -rf /srv/data/one", False),
    ("rm -rf /srv/database", False),
    ("find /srv/data -name x", False),
    ("ls -r /srv/data", False),
]


def test_a_mount_is_not_wiped_wherever_it_stands_in_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.path.ismount
    monkeypatch.setattr(os.path, "ismount", lambda path: path == "/srv/data" or real(path))
    found = {command: blocked_command(command, "/work/p", []) for command, _ in MOUNTED}
    assert {command: bool(reason) for command, reason in found.items()} == dict(MOUNTED)
    assert all(
        found[command].endswith("would change the mount /srv/data as a whole") for command, hit in MOUNTED if hit
    )


DEVICES = [
    ("dd if=x of=/dev/sda", True),
    ("dd if=/dev/sda of=x", False),
    ("dd if=/dev/sda of=/dev/sdb bs=1M", True),
    ("cp image /dev/nvme0n1", True),
    ("tee /dev/sda", True),
    ("ls | tee x /dev/sda", True),
    ("shred -n 1 /dev/vda", True),
    ("echo x > /dev/sda", True),
    ("echo x >> /dev/sda", True),
    ("echo x >| /dev/sda", True),
    ("echo x >/dev/sda", True),
    ("echo x >>/dev/sda", True),
    ("echo x 2>/dev/sda", True),
    ("echo x >|/dev/sda", True),
    ("echo x > out /dev/sda", True),
    ("echo x > /dev/null", False),
    ("echo x 2>/dev/null", False),
    ("ls -l /dev/sda", False),
    ("lsblk /dev/nvme0n1", False),
    ("wc -c < /dev/sda", False),
    ("dd if=x > /dev/sda", True),
    ("echo /dev/sda >>", False),
    ("tee mnt/dev/sda", False),
    ("echo x >>mnt/dev/sda", False),
    (">/dev/sda", True),
    ("cat /dev/sda", True),
    ("dd of=/dev/disk/by-id/a=b", True),
    ("dd --output=/dev/sda", False),
    ("tee --output=/dev/sda", True),
    ("tee x=/dev/sda", False),
    ("tee xof=/dev/sda", False),
    ("echo x2>/dev/sda", True),
    ("echo x>>/dev/sda", True),
    ("echo x>/dev/null", False),
    ("echo 'x > /dev/sda' y", False),
]


def test_raw_devices_are_not_written() -> None:
    found = {command: blocked_command(command, "/work/p", []) for command, _ in DEVICES}
    assert {command: bool(reason) for command, reason in found.items()} == dict(DEVICES)
    assert all("writes to the raw device /dev/" in found[command] for command, hit in DEVICES if hit)
    assert found["dd of=/dev/disk/by-id/a=b"] == "it writes to the raw device /dev/disk/by-id/a=b"


def test_no_redirection_leads_around_what_is_guarded() -> None:
    forms = [f"echo x {sign}{space}/srv/hermes/.env" for sign in (">", ">>", ">|", "2>", "&>") for space in ("", " ")]
    assert [form for form in forms if not blocked_command(form, "/work", GUARDED)] == []
    assert blocked_command("echo x >| out", "/work", GUARDED) == ""


PROGRAM = re.compile(r"\b(r\\?m|mv|rmdir|find|srm|unlink|wipe|truncate|shred)\b")
VITAL = [
    ("rm -rf /usr", "the system folder /usr"),
    ("rm -rf /usr/", "the system folder /usr"),
    ("rm -rf /usr/.", "the system folder /usr"),
    ("rm -rf /etc/*", "the system folder /etc"),
    ("rm -rf /etc/.*", "the system folder /etc"),
    ("rm -rf //", "the root folder"),
    ("rm -rf $UNSET_FOLDER/*", "the root folder"),
    ("rm -rf ${UNSET_FOLDER:-}/", "the root folder"),
    ("rm -rf $UNSET_FOLDER", ""),
    ("rm -rf $UNSET_FOLDER/build", "the system folder /build"),
    ("rm -rf /tmp", ""),
    ("rm -rf /workspace", ""),
    ("rm -rf /usr/local/mine", ""),
    ("rm -f /usr", ""),
    ("rm --recursive /usr", "the system folder /usr"),
    ("rm -R /usr", "the system folder /usr"),
    ("rm -fr /usr", "the system folder /usr"),
    ("rmdir /usr", "the system folder /usr"),
    ("find /usr -exec rm {} +", "the system folder /usr"),
    ("find /usr -execdir /bin/rm {} +", "the system folder /usr"),
    ("find /usr -ok rm {} +", "the system folder /usr"),
    ("find /usr -exec grep x {} +", ""),
    ("D=/usr; rm -rf $D", "the system folder /usr"),
    ("D=/us; rm -rf ${D}r", "the system folder /usr"),
    ("D=/usr; E=x; rm -rf $E $D", "the system folder /usr"),
    ("ls; D=/tmp; D=/usr; D=/tmp; D=/usr; rm -rf $D", "the system folder /usr"),
    ("ls; D=/usr; D=/usr; D=/tmp; D=/usr; rm -rf $D", "the system folder /usr"),
    ("ls; D=/usr; D=/tmp; rm -rf $D", ""),
    ("ls; rm -rf usr; cd /; rm -rf usr", "the system folder /usr"),
    ("rm -rf /home", "your home folder"),
    ("A=b=c rm -rf /usr", "the system folder /usr"),
    ("1=b rm -rf /usr", ""),
    ("rm -rf 'a'#b /usr", "the system folder /usr"),
    ("rm -rf //.", "the root folder"),
    ("cd / && rm -rf .*", "the root folder"),
    ("find /usr -name x", ""),
    ("find /usr -name find -exec find {} +", ""),
    ("find /usr -exec ls {} + -exec rm {} +", "the system folder /usr"),
    ("rm -rf --no/usr -- /usr", "the system folder /usr"),
    ("mv /usr x", "the system folder /usr"),
    ("chmod u-r /usr", ""),
    ("rm -rf '' x", ""),
    ("rm no-r /usr", ""),
    ("sh x-c 'rm -rf /usr'", ""),
    ("srm /usr", "the system folder /usr"),
    ("unlink /usr", "the system folder /usr"),
    ("wipe /usr", "the system folder /usr"),
    ("truncate -s 0 /usr", "the system folder /usr"),
    ("shred -u /usr", "the system folder /usr"),
    (r"rm -rf \/usr", "the system folder /usr"),
    (r"r\m -rf '/us'r", "the system folder /usr"),
    ("grep -c 'rm -rf /usr' x", ""),
    ("bash script.sh 'rm -rf /usr'", ""),
    ("rm -r x; sh -c 'ls; ls' /usr", ""),
]


def test_vital_places_are_not_wiped_in_any_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSET_FOLDER", raising=False)
    monkeypatch.setenv("HOME", "/home/anna")  # that of a test lies in the folder for temporary files
    found = {command: blocked_command(command, "/work/p", []) for command, _ in VITAL}
    program = {command: PROGRAM.search(command)[0].replace("\\", "") for command, place in VITAL if place}
    wanted = {
        command: f"{program[command]} would change {place} as a whole" if place else "" for command, place in VITAL
    }
    assert found == wanted


BELOW = [
    ("find /srv/deep -delete", True),
    ("find /srv/deep -name x -exec rm {} +", True),
    ("find /srv/deep -name x -fprint y", True),
    ("find /srv/deep -fprintf y z", True),
    ("find /srv/deep -execdir rm {} +", True),
    ("find /srv/deep -okdir rm {} +", True),
    ("find /srv/deep -name x", False),
    ("rm -rf /srv/deep", True),
    ("mv /srv/deep /tmp/x", True),
    ("chown -R me /srv/deep", True),
    ("ls -R /srv/deep", False),
    ("rm -rf /srv/deeper", False),
]


def test_what_takes_all_that_lies_below_takes_no_guarded_file_with_it() -> None:
    guarded = [Path("/srv/deep/hermes/.env")]
    assert [row for row in BELOW if bool(blocked_command(row[0], "/work", guarded)) is not row[1]] == []


def test_code_within_code_is_looked_through() -> None:
    for start in ("rm -rf /usr", "cat /srv/hermes/.env"):
        command = start
        for _ in range(3):
            command = f"sh -c {shlex.quote(command)}"
            assert blocked_command(command, "/work", GUARDED), command
            assert blocked_command(f"ls; {command}; ls", "/work", GUARDED), command


def test_a_link_with_a_slash_behind_it_is_what_it_leads_to(tmp_path: Path) -> None:
    for name in ("link", "o\td"):
        (tmp_path / name).symlink_to("/usr")
        said = blocked_command(f"rm -rf '{name}/'", str(tmp_path), [])
        assert said == "rm would change the system folder /usr as a whole"
        assert blocked_command(f"rm -rf '{name}'", str(tmp_path), []) == ""


def test_why_a_command_is_blocked_is_said() -> None:
    for command, why in (
        ("ls; :(){ :|:& };:", "it is a fork bomb"),
        ("mkfs.xfs x", "mkfs.xfs destroys a file system"),
        ("hermes config unset x", "what hermes may do is a person's to change"),
        ("xmkfs x", ""),
    ):
        assert blocked_command(command, "/work", []) == why
    assert blocked_command("acme set x; acme config set x", "/work", [], "acme") == (
        "what acme may do is a person's to change"
    )


def test_a_command_is_looked_through_up_to_its_longest() -> None:
    assert blocked_command("ls " + "a" * (LONGEST - 3), "/work", []) == ""
    assert "too long to be looked through" in blocked_command("ls " + "a" * (LONGEST - 2), "/work", [])


def test_where_it_works_is_no_system_folder_and_its_own_root_is_not_spared() -> None:
    assert blocked_command("rm -rf *", "/build", []) == ""
    assert blocked_command("rm -rf /build", "/build", []) == ""
    assert blocked_command("rm -rf /build", "/work", []) == "rm would change the system folder /build as a whole"
    assert blocked_command("rm -rf *", "/", []) == "rm would change the root folder as a whole"
    assert blocked_command("cd / && rm -rf *", "/build", []) == "rm would change the root folder as a whole"
    assert blocked_command("cd && rm -rf *", "/build", []).startswith("rm would change your home folder")


# --- guests -----------------------------------------------------------------------------------------------------------

HOST, ANNA, BEN = Principal(), Principal(person="anna"), Principal(person="ben")
ALL = frozenset({Effect.READ_FILES, Effect.WRITE_FILES})


async def _run(*_: object) -> str:
    return ""


def made(*effects: Effect) -> Tool:
    return Tool(name="t", description="x", params=object, run=_run, toolset="t", effects=frozenset(effects))


class Lodging:
    """The rules for Anna, who works in her folder and may read the skills."""

    def __init__(self, root: Path) -> None:
        self.guests = Guests(host=HOST, people=root / "people", trusted=["ben"])
        self.place, self.skills = FakeWorkspace(), root / "skills"
        self.folder = self.guests.folder(ANNA)
        self.folder.mkdir(parents=True)
        self.skills.mkdir()
        self.place.cwd = str(self.folder)

    def refusal(self, tool: Tool, *places: object, owner: Principal = ANNA, known: bool = True) -> str:
        keys = [key if str(key).startswith("host:") else f"file:{key}" for key in places] if known else None
        session = Session(id="s", origin="test", owner=owner)
        return self.guests.refusal(session, tool, keys, self.place, [str(self.skills)])


@pytest.fixture
def lodging(tmp_path: Path) -> Lodging:
    return Lodging(tmp_path)


def test_a_guest_writes_in_a_folder_of_their_own_and_nowhere_else(lodging: Lodging, tmp_path: Path) -> None:
    bens = lodging.guests.folder(BEN)
    bens.mkdir(parents=True)
    (lodging.folder / "link").symlink_to(bens)
    (lodging.folder / "skills").symlink_to(lodging.skills)
    elsewhere = [
        lodging.skills / "x", "skills/x", bens / "x", f"../../{bens.parent.name}/work/x", "link/x", "..", "../x", "~/x",
        Path.home() / "x", tmp_path / "x", "/", "/etc/x", f"{lodging.folder}2/x",
    ]  # fmt: skip
    for tool in (made(Effect.WRITE_FILES), made(*ALL), made(Effect.WRITE_FILES, Effect.NETWORK)):
        assert [place for place in ("x", "a/b/x", ".", lodging.folder / "x") if lodging.refusal(tool, place)] == []
        assert [place for place in elsewhere if not lodging.refusal(tool, place)] == []
        assert [place for place in elsewhere if not lodging.refusal(tool, "x", place)] == [], "as one of several"
    assert lodging.refusal(made(Effect.WRITE_FILES), "/x") == f"/x is outside of your own folder, {lodging.folder}"


def test_a_guest_reads_there_and_what_is_open_to_the_session(lodging: Lodging, tmp_path: Path) -> None:
    look = made(Effect.READ_FILES)
    assert lodging.refusal(look, "x", lodging.skills / "knots" / "SKILL.md", "host:good.org") == ""
    for place in (tmp_path / "x", lodging.guests.folder(BEN) / "x", f"{lodging.skills}2/x"):
        assert lodging.refusal(look, lodging.skills / "x", place)


def test_what_else_a_guest_may_and_may_not(lodging: Lodging) -> None:
    assert lodging.refusal(made(Effect.CONFIGURE)) == "only the owner of this Hermes changes its settings and tools"
    assert "does not say which files" in lodging.refusal(made(Effect.READ_FILES), known=False)
    assert lodging.refusal(made(Effect.SEND, Effect.NETWORK), known=False) == ""
    assert lodging.refusal(made(Effect.READ_FILES)) == "", "it touches none"
    assert "name anna in gateway.trusted_with_shell" in lodging.refusal(made(Effect.EXECUTE))
    assert lodging.refusal(made(Effect.EXECUTE), owner=BEN) == ""
    assert lodging.refusal(made(Effect.EXECUTE, Effect.CONFIGURE), owner=BEN).startswith("only the owner")
    lodging.place.features |= {Feature.ISOLATED}
    assert lodging.refusal(made(Effect.EXECUTE)) == ""
    assert lodging.refusal(made(Effect.WRITE_FILES), "/etc/x") == "", "it is a path of its own place"
    assert lodging.refusal(made(Effect.CONFIGURE)).startswith("only the owner")


def test_a_guests_folder_is_named_by_whom_it_is_for(lodging: Lodging) -> None:
    for person, name in (("Anna Lee", "anna-lee"), ("x" * 50, "x" * 40), ("-a_b-", "a-b"), ("É", "")):
        folder = lodging.guests.folder(Principal(person=person))
        assert re.fullmatch(rf"{name}{'-' if name else ''}[0-9a-f]{{16}}", folder.parent.name), person
        assert (folder.name, folder.parent.parent) == ("work", lodging.guests.people)


def test_the_host_is_no_guest_and_a_person_of_another_profile_is(lodging: Lodging) -> None:
    for effect in Effect:
        assert lodging.refusal(made(effect), "/etc/x", owner=HOST) == ""
    assert lodging.guests.is_guest(Principal(profile="work"))
    assert lodging.guests.folder(Principal(profile="work", person="anna")) != lodging.folder
    assert lodging.guests.folder(Principal(person="-.-")).parent.name[0] != "-", (
        "as a word of a command it is no option"
    )
    assert lodging.guests.closed(HOST) == (lodging.guests.people,)
    assert lodging.guests.closed(ANNA) == ()
