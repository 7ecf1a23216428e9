"""What a service said of a key is known to every process of a home, and nothing that lies there is believed."""

import subprocess
import sys

import pytest

from hermes_provider_kit.failures.waiting import used_up
from hermes_provider_kit.limits import Limits, mark_of


@pytest.fixture
def limits(tmp_path):
    return Limits(tmp_path / "limits")


def test_a_rest_is_seen_by_others_and_ends(limits, tmp_path):
    mark = mark_of("acme", "sk-very-secret")
    assert limits.left(mark) == 0
    limits.rest(mark, 60)
    assert 59 < Limits(tmp_path / "limits").left(mark) <= 60
    assert limits.left(mark_of("acme", "another")) == 0
    assert "secret" not in "".join(f"{path}{path.read_text()}" for path in (tmp_path / "limits").iterdir())
    limits.free(mark)
    limits.free(mark)
    assert limits.left(mark) == 0
    for seconds in (None, 0, -5, 0.1, float("nan")):
        limits.rest(mark, seconds)
        assert limits.left(mark) == 0
    limits.rest(mark, float("inf"))
    assert 86_000 < limits.left(mark) <= 86_400


def test_a_rest_is_not_shortened_by_a_reply_that_was_under_way(limits):
    limits.rest("abc", 3600)
    limits.hear("abc", {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"})
    limits.rest("abc", 2)
    assert 3500 < limits.left("abc") <= 3600
    limits.rest("abc", 7200)
    assert limits.left("abc") > 7000


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b'{"until": "9e99"}', b'{"until": 1e300}', b'{"until": true}', b"[" * 90_000),
        *(b'{"until": NaN}', b'{"until": 1%s}' % (b"0" * 400)),
    ],
)
def test_what_is_no_rest_holds_nobody_up(limits, tmp_path, data):
    limits.rest("abc", 60)
    (tmp_path / "limits" / "abc.json").write_bytes(data)
    assert limits.left("abc") == 0


def test_a_folder_that_cannot_be_used_costs_nothing(tmp_path):
    (tmp_path / "limits").write_text("a file")
    limits = Limits(tmp_path / "limits")
    limits.rest("abc", 60)
    limits.free_all()
    with limits.lease("abc") as alone:
        assert not alone
    assert limits.left("abc") == 0


def test_a_lease_is_one_process_and_ends_with_it(limits, tmp_path):
    script = (
        "import sys; from pathlib import Path; from hermes_provider_kit.limits import Limits\n"
        "with Limits(Path(sys.argv[1])).lease('abc') as alone:\n    print(alone, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "limits")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "True\n"
        with limits.lease("abc") as alone, limits.lease("abd") as other_alone:
            assert (alone, other_alone) == (False, True)
        other.kill()
        other.wait()
        with limits.lease("abc") as alone:
            assert alone


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"x-ratelimit-reset-requests": "60s"}, None),  # says not that it is used up
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "60s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 90),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "250ms"}, 0.25),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}, 7),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None),
    ],
)
def test_an_answer_says_that_a_limit_is_used_up(headers, seconds):
    assert used_up(headers) == seconds
