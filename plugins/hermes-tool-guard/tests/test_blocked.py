"""What no mode lifts, in every spelling: each condition of a hard block by itself."""

import os
import re
import shlex
from pathlib import Path

import pytest
from guard_places import blocked

from hermes_tool_guard.hardblocks import LONGEST, program_words

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
    missed = [form for form in (*WRAPPED, *COMPOUND) if not blocked(form.format(command), "/work", GUARDED)]
    assert not missed
    wrong = [form for form in (*WRAPPED, *COMPOUND) if blocked(form.format("ls -l x"), "/work", GUARDED)]
    assert not wrong, "an everyday command in the same place is left to the policy"


@pytest.mark.parametrize("form", WRAPPED)
def test_a_wrapper_is_taken_off_with_its_options(form: str) -> None:
    assert program_words(form.format("rm -r x y").split()) == ["rm", "-r", "x", "y"]


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
    found = {command: blocked(command, "/work/p", []) for command, _ in MOUNTED}
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
    found = {command: blocked(command, "/work/p", []) for command, _ in DEVICES}
    assert {command: bool(reason) for command, reason in found.items()} == dict(DEVICES)
    assert all("writes to the raw device /dev/" in found[command] for command, hit in DEVICES if hit)
    assert found["dd of=/dev/disk/by-id/a=b"] == "it writes to the raw device /dev/disk/by-id/a=b"


def test_no_redirection_leads_around_what_is_guarded() -> None:
    forms = [f"echo x {sign}{space}/srv/hermes/.env" for sign in (">", ">>", ">|", "2>", "&>") for space in ("", " ")]
    assert [form for form in forms if not blocked(form, "/work", GUARDED)] == []
    assert blocked("echo x >| out", "/work", GUARDED) == ""


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
    found = {command: blocked(command, "/work/p", []) for command, _ in VITAL}
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
    assert [row for row in BELOW if bool(blocked(row[0], "/work", guarded)) is not row[1]] == []


def test_code_within_code_is_looked_through() -> None:
    for start in ("rm -rf /usr", "cat /srv/hermes/.env"):
        command = start
        for _ in range(3):
            command = f"sh -c {shlex.quote(command)}"
            assert blocked(command, "/work", GUARDED), command
            assert blocked(f"ls; {command}; ls", "/work", GUARDED), command


def test_a_link_with_a_slash_behind_it_is_what_it_leads_to(tmp_path: Path) -> None:
    for name in ("link", "o\td"):
        (tmp_path / name).symlink_to("/usr")
        said = blocked(f"rm -rf '{name}/'", str(tmp_path), [])
        assert said == "rm would change the system folder /usr as a whole"
        assert blocked(f"rm -rf '{name}'", str(tmp_path), []) == ""


def test_why_a_command_is_blocked_is_said() -> None:
    for command, why in (
        ("ls; :(){ :|:& };:", "it is a fork bomb"),
        ("mkfs.xfs x", "mkfs.xfs destroys a file system"),
        ("hermes config unset x", "what hermes may do is a person's to change"),
        ("xmkfs x", ""),
    ):
        assert blocked(command, "/work", []) == why
    assert blocked("acme set x; acme config set x", "/work", [], "acme") == ("what acme may do is a person's to change")


def test_a_command_is_looked_through_up_to_its_longest() -> None:
    assert blocked("ls " + "a" * (LONGEST - 3), "/work", []) == ""
    assert "too long to be looked through" in blocked("ls " + "a" * (LONGEST - 2), "/work", [])


def test_where_it_works_is_no_system_folder_and_its_own_root_is_not_spared() -> None:
    assert blocked("rm -rf *", "/build", []) == ""
    assert blocked("rm -rf /build", "/build", []) == ""
    assert blocked("rm -rf /build", "/work", []) == "rm would change the system folder /build as a whole"
    assert blocked("rm -rf *", "/", []) == "rm would change the root folder as a whole"
    assert blocked("cd / && rm -rf *", "/build", []) == "rm would change the root folder as a whole"
    assert blocked("cd && rm -rf *", "/build", []).startswith("rm would change your home folder")
