"""What comes back from over there: output as it is, and lines about it of which only ours count."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_ssh.capture import Capture
from hermes_backend_ssh.remote import HEARD, Remote
from hermes_core.testing import Steps

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


@given(data=st.binary(max_size=400), cut=st.integers(0, 400), limit=st.integers(0, 500))
def test_what_is_kept_of_an_output_does_not_depend_on_its_pieces(data, cut, limit):
    whole, pieces, single = Capture(limit), Capture(limit), Capture(limit)
    with Steps(len(data), each=20):
        whole.add(data)
        pieces.add(data[:cut])
        pieces.add(data[cut:])
        for at in range(len(data)):
            single.add(data[at : at + 1])
        kept = whole.joined()
        assert kept == pieces.joined() == single.joined()
    assert len(kept) <= limit
    assert kept == data or whole.truncated
