"""Archives that mean ill, and those that do not. What breaks a rule leaves nothing behind."""

import bz2
import gzip
import io
import struct
import tarfile
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.errors import OutOfReach
from hermes_core.testing import Steps
from hermes_tool_kit.archives import ArchiveLimits, unpack

SMALL = ArchiveLimits(members=20, total=50_000, file=30_000)


def zipped(members, *, method=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return data.getvalue()


def mode(name, bits):
    info = zipfile.ZipInfo(name)
    info.external_attr = bits << 16
    return info


def tarred(members, wrap=bytes, form=tarfile.PAX_FORMAT):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=form) as archive:
        for member, content in members:
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return wrap(data.getvalue())


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def put(tmp_path, data):
    path = tmp_path / "x.archive"
    path.write_bytes(data)
    return path


PLAIN = [("a.txt", b"one"), ("d/b.txt", b"two"), ("./d/c.txt", b"three")]


@pytest.mark.parametrize(
    "data",
    [
        zipped(PLAIN),
        zipped(PLAIN, method=zipfile.ZIP_STORED),
        zipped(PLAIN, method=zipfile.ZIP_BZIP2),
        tarred(PLAIN),
        tarred(PLAIN, gzip.compress),
        tarred(PLAIN, bz2.compress),
        tarred(PLAIN, form=tarfile.GNU_FORMAT),
    ],
    ids=["zip", "stored", "bzip2", "tar", "tar.gz", "tar.bz2", "gnu"],
)
def test_what_is_in_order_comes_out_whole(tmp_path, data):
    into = tmp_path / "new" / "place"
    assert unpack(put(tmp_path, data), into) == ["a.txt", "d/b.txt", "d/c.txt"]
    assert (into / "d/c.txt").read_bytes() == b"three"
    assert sorted(p.name for p in into.parent.iterdir()) == ["place"]


def test_only_the_right_to_run_is_taken_over(tmp_path):
    run, plain = tarfile.TarInfo("run"), tarfile.TarInfo("plain")
    run.mode, plain.mode = 0o6777, 0o666
    run.uid = plain.uid = 4242
    unpack(put(tmp_path, tarred([(run, b""), (plain, b"")])), tmp_path / "t")
    unpack(put(tmp_path, zipped([(mode("run", 0o106755), b"")])), tmp_path / "z")
    assert (tmp_path / "t/run").stat().st_mode & 0o7777 == 0o755
    assert not (tmp_path / "t/plain").stat().st_mode & 0o7133
    assert (tmp_path / "z/run").stat().st_mode & 0o7777 == 0o755


NAMES = {
    "absolute": "/etc/passwd", "up": "../x", "up in the middle": "a/../../x", "up and down": "a/../x", "drive": "C:/x",
    "drive without a slash": "c:x", "backslash": "..\\x", "two slashes": "//server/x", "stream": "a.txt:stream",
    "line end": "a\nb", "escape": "a\x1b[0m", "override": "a\u202eb", "space behind": "a ", "dot behind": "a.",
    "folder with a dot behind": "a./b", "device": "CON", "device with an end": "d/nul.txt", "too long": "x" * 256,
    "too deep": "a/" * 70 + "b", "byte order mark": "\ufeffa",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
@pytest.mark.parametrize("make", [zipped, tarred], ids=["zip", "tar"])
def test_a_name_that_leads_elsewhere_refuses_it_all(tmp_path, make, name):
    nothing_left(tmp_path, make([("fine", b"x"), (name, b"x")]))


def nothing_left(tmp_path, data, limits=ArchiveLimits()):  # noqa: B008
    folder = tmp_path / "into"
    folder.mkdir(exist_ok=True)
    archive = put(tmp_path, data)
    with pytest.raises(OutOfReach, match="was not unpacked") as refused:
        unpack(archive, folder / "place", limits)
    assert str(refused.value).isprintable()
    assert not list(folder.iterdir())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["into", "x.archive"]


@pytest.mark.parametrize(
    "pair",
    [
        ("a", "a"),
        ("a", "A"),
        ("\u00e9", "e\u0301"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("d/x", "D/X"),
        ("a", "./a"),
        ("\ufb01", "fi"),
    ],
)
@pytest.mark.parametrize("make", [zipped, tarred], ids=["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_in_one_place_refuse_it_all(tmp_path, make, pair):
    nothing_left(tmp_path, make([(name, b"x") for name in pair]))


@pytest.mark.parametrize(
    "member",
    [
        special("link", tarfile.SYMTYPE, "/etc/passwd"),
        special("link", tarfile.SYMTYPE, "a"),
        special("hard", tarfile.LNKTYPE, "../x"),
        special("hard", tarfile.LNKTYPE, "fine"),
        special("null", tarfile.CHRTYPE),
        special("disk", tarfile.BLKTYPE),
        special("pipe", tarfile.FIFOTYPE),
        special("holes", tarfile.GNUTYPE_SPARSE),
    ],
    ids=lambda member: f"{member.name}-{member.linkname}",
)
def test_links_and_devices_in_a_tar_refuse_it_all(tmp_path, member):
    nothing_left(tmp_path, tarred([("fine", b"x"), (member, b"")]))


@pytest.mark.parametrize("bits", [0o120777, 0o020666, 0o060666, 0o010666, 0o140666])
def test_links_and_devices_in_a_zip_refuse_it_all(tmp_path, bits):
    nothing_left(tmp_path, zipped([("fine", b"x"), (mode("link", bits), b"/etc/passwd")]))


def test_a_link_and_then_a_file_through_it_writes_nothing_outside(tmp_path):
    """The classic: the link is made first, and the next member goes through it."""
    outside = tmp_path / "outside"
    link = special("d", tarfile.SYMTYPE, str(outside))
    with pytest.raises(OutOfReach):
        unpack(put(tmp_path, tarred([(link, b""), ("d/evil", b"x")])), tmp_path / "place")
    assert not outside.exists()


def test_an_encrypted_zip_is_refused(tmp_path):
    data = bytearray(zipped([("secret", b"x")], method=zipfile.ZIP_STORED))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(mark) + offset
        data[at : at + 2] = struct.pack("<H", 1)
    with pytest.raises(OutOfReach, match="encrypted"):
        unpack(put(tmp_path, bytes(data)), tmp_path / "place")


@pytest.mark.parametrize(
    "data",
    [
        zipped([("bomb", b"\0" * 40_000)]),
        tarred([("bomb", b"\0" * 40_000)], gzip.compress),
        zipped([(f"bomb{n}", b"\0" * 20_000) for n in range(3)]),
        tarred([(f"bomb{n}", b"\0" * 20_000) for n in range(3)], bz2.compress),
        zipped([(f"{n}", b"") for n in range(21)]),
        tarred([(f"{n}", b"") for n in range(21)]),
        zipped([("a/" * n, b"") for n in range(1, 25)]),
    ],
    ids=["one", "one in tar", "sum", "sum in tar", "count", "count in tar", "folders"],
)
def test_more_than_the_limits_is_refused(tmp_path, data):
    nothing_left(tmp_path, data, SMALL)


def test_what_unpacks_to_far_more_than_was_packed_is_refused(tmp_path):
    data = zipped([("bomb", b"\0" * 20_000_000)])
    assert len(data) < 100_000
    nothing_left(tmp_path, data)


def test_a_header_can_be_a_bomb_too(tmp_path):
    info = tarfile.TarInfo("a")
    info.pax_headers = {"comment": "x" * 1_000_000}
    nothing_left(tmp_path, tarred([(info, b"")], gzip.compress), SMALL)


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path):
    data = bytearray(zipped([("a", b"\0" * 40_000)]))
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 10)
    archive = put(tmp_path, bytes(data))
    try:
        unpack(archive, tmp_path / "place", SMALL)
    except OutOfReach:
        assert not (tmp_path / "place").exists()
    else:
        assert (tmp_path / "place" / "a").stat().st_size <= 10


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no archive at all",
        b"PK\x03\x04 and then nothing",
        b"\x1f\x8b\x08\x00broken",
        b"BZh9broken",
        zipped(PLAIN)[:-30],
        tarred(PLAIN, gzip.compress)[:-30],
        tarred([("a", b"x" * 5_000)])[:3_000],
        b"\xfd7zXZ\x00 xz is not taken",
    ],
    ids=range(9),
)
def test_what_is_no_archive_is_said(tmp_path, data):
    nothing_left(tmp_path, data)


def test_what_is_there_is_never_written_over(tmp_path):
    archive = put(tmp_path, zipped(PLAIN))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").touch()
    for place in ("full", "link", "file"):
        with pytest.raises(OutOfReach, match="is there already"):
            unpack(archive, tmp_path / place)
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "empty").mkdir()
    assert unpack(archive, tmp_path / "empty")
    with pytest.raises(OSError):  # noqa: PT011
        unpack(tmp_path / "nosuch", tmp_path / "place")


MUTABLE = [
    zipped(PLAIN),
    tarred(PLAIN),
    tarred(PLAIN, gzip.compress),
    tarred(PLAIN, bz2.compress),
    tarred([("n" * 200, b"one"), ("\u00e9" * 60, b"two")], form=tarfile.PAX_FORMAT),
    tarred([("n" * 200, b"one")], form=tarfile.GNU_FORMAT),
]


@settings(max_examples=50)
@given(
    data=st.sampled_from(MUTABLE),
    changes=st.lists(st.tuples(st.integers(0, 2_000), st.sampled_from([b"\xff", b"\0", b"7", b"x", b"L", b"S"]))),
    last=st.integers(1, 20_000),
)
def test_an_archive_with_any_bytes_is_unpacked_or_refused_in_few_steps(data, changes, last, tmp_path_factory):
    broken = bytearray(data[:last])
    for at, sign in changes:
        broken[at : at + 1] = sign
    base = tmp_path_factory.mktemp("odd")
    with Steps(len(broken), each=20, first=20_000), suppress(OutOfReach):
        unpack(put(base, bytes(broken)), base / "out", SMALL)
    assert {path.name for path in base.iterdir()} <= {"x.archive", "out"}


@pytest.mark.parametrize("size", [-1, -512, -1_024, -(10**6), 1 << 40, 1 << 80])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XGLTYPE])
def test_a_member_of_an_impossible_size_leads_nowhere(size, kind, tmp_path):
    info = tarfile.TarInfo("a")
    info.type = kind
    head = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    head[124:136] = size.to_bytes(12, "big", signed=True)
    head[124] |= 0x80
    head[148:156] = f"{sum(head[:148]) + sum(head[156:]) + 8 * 32:06o}\0 ".encode()
    with Steps(2_048, each=5, first=10_000), suppress(OutOfReach):
        unpack(put(tmp_path, bytes(head) + tarred([("b", b"two")])), tmp_path / "out", SMALL)
    assert {path.name for path in tmp_path.iterdir()} <= {"x.archive", "out"}


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        st.lists(
            st.sampled_from(["..", ".", "a", "B", "b", "", "c:", "\\", "d ", "/"]) | st.text(max_size=4), max_size=4
        ).map("/".join),
        max_size=5,
    ),
    as_tar=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_archive_writes_outside_its_folder(names, as_tar, tmp_path_factory):
    base = tmp_path_factory.mktemp("wild")
    try:
        data = (tarred if as_tar else zipped)([(name, b"x") for name in names])
    except (UnicodeEncodeError, ValueError, IndexError):  # no such archive can be made
        return
    archive = put(base, data)
    try:
        written = unpack(archive, base / "in" / "place")
    except OutOfReach:
        written = []
    found = [p for p in base.rglob("*") if p.is_file() and p != archive]
    assert sorted(str(p.relative_to(base / "in" / "place")) for p in found) == written
