"""What comes back from over there: lines about a command's output, of which only ours count."""

from pathlib import Path

from hermes_backend_ssh.remote import HEARD, Remote

TOKEN = "0123456789abcdef"


async def heard(folder: Path, beside: bytes) -> tuple[Remote, bytes]:
    """What is made of this beside an output; no ssh is needed to say it."""
    said, seen = folder / "said", bytearray()
    said.write_bytes(beside)
    remote = Remote(["sh", "-c", 'printf out; cat "$0" >&2', str(said)], TOKEN, seen.extend)
    await remote.run(b"")
    return remote, bytes(seen)


async def test_lines_that_our_shell_never_writes_are_nothing(tmp_path):
    token = TOKEN.encode()
    odd = [
        b"",
        b" ",
        b" start",
        b" start x",
        b" end",
        b" end -1",
        b" end 1 2",
        b" end " + b"9" * 5_000,
        b" \xff",
        b" x 1",
    ]
    lines = [token + b" start 42", *(token + rest for rest in odd), b"x" * 200_000, token + b" end 7", b""]
    remote, seen = await heard(tmp_path, b"\n".join(lines))
    assert (remote.leader, remote.status, remote.no_folder, seen) == (42, 7, False, b"out")


async def test_of_what_ssh_says_not_more_is_kept_than_anybody_reads(tmp_path):
    remote, seen = await heard(tmp_path, b"a word\n" * 20_000)
    assert (remote.leader, remote.status, seen) == (0, None, b"out")
    assert HEARD <= len(remote.said) < HEARD + 10
