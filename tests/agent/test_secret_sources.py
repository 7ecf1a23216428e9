"""Secrets that plugins read elsewhere: who is asked, who counts, what is told, and that no value shows."""

import asyncio
import json
import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from hermes_core.embed import HERMES, Hermes
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import SecretSource
from hermes_core.testing import Bench

KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"


class Store(SecretSource):
    """What a test says it has; everything that it was asked is in ``asked``."""

    def __init__(self, name: str = "store", **values: object) -> None:
        self.name, self.values, self.asked = name, values, []  # type: ignore[var-annotated]

    def read(self, reference: str, seconds: float) -> str:
        self.asked.append(reference)
        found = self.values.get(reference, "")
        if isinstance(found, BaseException):
            raise found
        return found  # type: ignore[return-value]

    def read_all(self, seconds: float) -> Mapping[str, str]:
        self.asked.append("*")
        return self.values  # type: ignore[return-value]


@pytest.fixture
def bench(hermes: Bench) -> Bench:
    return hermes


@pytest.fixture(autouse=True)
def _no_keys_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A_KEY", "B_KEY", "C_KEY"):
        monkeypatch.delenv(name, raising=False)


def settle(bench: Bench, source: Store) -> None:
    """Wait for what is asked in the background: a bulk source, for the sake of a conflict."""
    for thread in threading.enumerate():
        if thread.name == "hermes-secrets":
            thread.join(5)


async def test_a_mapped_secret_is_read_where_it_is_and_only_when_needed(bench: Bench) -> None:
    source = Store(place=KEY)
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert secrets.get("B_KEY") == ""
        assert source.asked == []
        assert [secrets.get("A_KEY"), secrets.get("A_KEY")] == [KEY, KEY]
        assert source.asked == ["place"], "it is kept in memory"


async def test_nobody_is_loaded_before_a_secret_is_needed(bench: Bench) -> None:
    label = bench.tmp_plugin(Store(place=KEY))
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        assert bench.runtime.settings.secrets.get("B_KEY") == ""
        assert label not in bench.runtime.loader.loaded
        assert bench.runtime.settings.secrets.get("A_KEY")
        assert label in bench.runtime.loader.loaded


async def test_who_is_not_named_in_the_settings_is_never_asked(bench: Bench) -> None:
    source = Store(A_KEY=KEY)
    bench.tmp_plugin(source)
    async with bench:
        assert bench.runtime.settings.secrets.get("A_KEY") == ""
    assert source.asked == []


async def test_environment_beats_mapped_beats_file_beats_bulk(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one, other, last = Store("one", place="from-mapped"), Store("other", A_KEY="from-bulk"), Store("last", A_KEY="late")
    for source in (one, other, last):
        bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "one:place", "B_KEY": "one:place"}, "secrets.bulk": ["other", "last"]})
    async with bench:
        secrets = bench.runtime.settings.secrets
        bench.runtime.home.env_file.write_text("B_KEY=from-file\n")
        assert secrets.get("A_KEY") == "from-mapped"
        settle(bench, other)
        assert [secrets.get("A_KEY"), secrets.get("A_KEY"), secrets.get("B_KEY")] == ["from-mapped"] * 3
        del bench.runtime.settings.config.secrets.env["A_KEY"]
        assert secrets.get("A_KEY") == "from-bulk"
        del bench.runtime.settings.config.secrets.env["B_KEY"]
        assert secrets.get("B_KEY") == "from-file"
        monkeypatch.setenv("A_KEY", "from-environment")
        assert secrets.get("A_KEY") == "from-environment"
    told = [one.getMessage() for one in caplog.records if "counts" in one.getMessage()]
    assert "A_KEY is in one and in other and in last: one counts" in told
    assert "B_KEY is in one and in .env: one counts" in told
    assert "A_KEY is in other and in last: other counts" in told
    assert len(told) == len(set(told)), "each is told once"
    assert not any("from-" in line or "late" in line for line in told), "by names only"


async def test_what_is_no_secret_by_its_name_costs_no_look_into_bulk_sources(bench: Bench) -> None:
    source = Store(A_BASE_URL="http://there", A_KEY=KEY)
    bench.tmp_plugin(source)
    bench.configure({"secrets.bulk": ["store"]})
    async with bench:
        assert bench.runtime.settings.secrets.get("A_BASE_URL") == ""
        assert source.asked == []
        assert bench.runtime.settings.secrets.get("A_KEY") == KEY
        assert bench.runtime.settings.secrets.get("B_KEY") == ""
        assert source.asked == ["*"]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (UserError("It is locked.", hint="Unlock it: store unlock"), "store: It is locked. Unlock it: store unlock"),
        (ValueError(f"invalid literal {KEY}"), "it failed with ValueError"),
        (SystemExit(3), "it failed with SystemExit"),
        ("", "it has nothing there"),
        ("x" * 10_000_000, "is no secret"),
        ("a\0b", "is no secret"),
        ("\udc80", "is no secret"),
        (b"bytes", "is no secret"),
        (None, "is no secret"),
    ],
)  # fmt: skip
async def test_who_cannot_say_it_is_told_once_and_the_secret_stays_empty(
    bench: Bench, caplog: pytest.LogCaptureFixture, found: object, told: str
) -> None:
    bench.tmp_plugin(Store(place=found))
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        bench.runtime.home.env_file.write_text("A_KEY=of-long-ago\n")
        assert [bench.runtime.settings.secrets.get("A_KEY") for _ in range(3)] == ["", "", ""]
    (line,) = [one.getMessage() for one in caplog.records if "not to be had" in one.getMessage()]
    assert line.startswith("A_KEY is not to be had from store: ")
    assert told in line
    assert KEY not in caplog.text


async def test_names_that_change_how_programs_start_are_refused(bench: Bench) -> None:
    bench.tmp_plugin(Store(LD_PRELOAD="/tmp/x.so", PATH="/tmp", A_KEY=KEY))
    bench.configure({"secrets.bulk": ["store"]})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert [secrets.get("A_KEY"), secrets.get("LD_PRELOAD")] == [KEY, ""]
        assert {one.name for one in secrets.origins(ask=True)} == {"*", "A_KEY"}
        assert "LD_PRELOAD" not in os.environ


@pytest.mark.parametrize("env", [{"LD_PRELOAD": "store:x"}, {"A_KEY": "store"}, {"A_KEY": "env:B"}, {"a-b": "s:x"}])
def test_settings_that_name_no_place_are_refused(bench: Bench, env: dict[str, str]) -> None:
    bench.configure({"secrets.env": env})
    with pytest.raises(HermesError, match=next(iter(env))):
        _ = bench.runtime


async def test_one_that_hangs_is_waited_for_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    go_on = threading.Event()

    class Hangs(Store):
        def read(self, reference: str, seconds: float) -> str:
            self.asked.append(reference)
            go_on.wait(30)
            return KEY

    source = Hangs()
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}, "secrets.timeout_seconds": 0.05})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert [secrets.get("A_KEY") for _ in range(3)] == ["", "", ""]
        assert source.asked == ["place"]
        assert "A_KEY is not to be had from store: did not end within 1.05 s" in caplog.text
        go_on.set()
        for _ in range(500):
            if secrets.get("A_KEY"):
                break
            await asyncio.sleep(0.01)
        assert secrets.get("A_KEY") == KEY, "an answer that comes late is taken all the same"


async def test_what_is_too_old_is_asked_for_again(bench: Bench) -> None:
    source = Store(place="first-value")
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}, "secrets.cache_ttl_seconds": 0})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert secrets.get("A_KEY") == "first-value"
        source.values["place"] = "second-value"
        assert secrets.get("A_KEY") == "second-value"
        assert {"first-value", "second-value"} <= set(secrets.learned), "both stay masked"


async def test_a_refused_key_is_asked_for_again_at_once(bench: Bench) -> None:
    source = Store(place="first-value")
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert secrets.get("A_KEY") == "first-value"
        assert secrets.reload() is False
        source.values["place"] = "second-value"
        assert secrets.get("A_KEY") == "first-value"
        assert secrets.reload() is True
        assert secrets.get("A_KEY") == "second-value"


async def test_what_was_learned_is_masked_at_once_also_in_a_stream_that_is_open(bench: Bench) -> None:
    bench.tmp_plugin(Store(place=KEY))
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        settings = bench.runtime.settings
        stream = settings.masks.always_stream()
        assert settings.masks.always(f"it is {KEY}") == f"it is {KEY}", "nobody knows it yet"
        assert settings.secrets.get("A_KEY") == KEY
        assert KEY not in settings.masks.always(f"it is {KEY}")
        assert KEY not in stream.feed(f"it is {KEY}\n")
        assert KEY not in json.dumps(settings.masks.data({"a": [KEY]}))
        assert settings.secrets.held_in(f"https://x/?q={KEY}")
        assert KEY not in str(dict(os.environ))


async def test_a_source_may_need_a_secret_of_another_and_never_of_itself(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    class Needy(Store):
        def read(self, reference: str, seconds: float) -> str:
            token = bench.runtime.settings.secrets.get(reference)
            return f"read with {token}" if token else ""

    bench.tmp_plugin(Store(place=KEY))
    bench.tmp_plugin(Needy("needy"))
    bench.configure({"secrets.env": {"A_KEY": "needy:B_KEY", "B_KEY": "store:place", "C_KEY": "needy:C_KEY"}})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert secrets.get("A_KEY") == f"read with {KEY}"
        assert secrets.get("C_KEY") == ""
    assert "C_KEY is not to be had from needy: it needs this secret itself" in caplog.text


async def test_many_who_ask_at_once_ask_the_source_once(bench: Bench) -> None:
    source = Store(place=KEY)
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        get = bench.runtime.settings.secrets.get
        found = await asyncio.gather(*(asyncio.to_thread(get, "A_KEY") for _ in range(8)))
    assert found == [KEY] * 8
    assert source.asked == ["place"]


PLUGIN = """# /// hermes
# api = 1
# name = "sly"
# kind = "tool"
# summary = "Gives secrets."
# [contributes]
# secret_sources = ["sly"]
# ///
raise RuntimeError("it ran")
"""


async def test_a_plugin_that_was_not_enabled_gives_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "sly.py").write_text(PLUGIN)
    config = {"secrets.env": {"A_KEY": "sly:x", "B_KEY": "nobody:x"}}
    async with Hermes(HERMES, home=tmp_path, config=config) as hermes:
        assert hermes.runtime.settings.secrets.get("A_KEY") == ""
        assert hermes.runtime.settings.secrets.get("B_KEY") == ""
    assert "A_KEY is not to be had from sly: is not enabled" in caplog.text
    assert "hermes plugins enable tool/sly" in caplog.text
    assert "B_KEY is not to be had from nobody: There is no source of secrets named 'nobody'." in caplog.text
    assert "it ran" not in caplog.text


async def test_the_log_says_all_this_and_no_value(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bench.tmp_plugin(Store(place=KEY, A_KEY="another-value"))
    bench.configure({"secrets.env": {"A_KEY": "store:place"}, "secrets.bulk": ["store"]})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert secrets.get("A_KEY") == KEY
        rows = secrets.origins(ask=True)
        assert ("A_KEY", "store:place", "") in [(one.name, one.source, one.problem) for one in rows]
    assert KEY not in f"{rows}{caplog.text}{list(map(vars, caplog.records))}"


class Clock:
    """What time it is for the sources, as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("hermes_core.plugins.secret_sources.monotonic", lambda: self.now)


async def test_nobody_waits_for_what_is_asked_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    class Slow(Store):
        def read(self, reference: str, seconds: float) -> str:
            go_on.wait(30)
            return super().read(reference, seconds)

    clock, source = Clock(monkeypatch), Slow(place="first-value")
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        secrets = bench.runtime.settings.secrets
        go_on.set()
        assert secrets.get("A_KEY") == "first-value"
        go_on.clear()
        source.values["place"] = "second-value"
        clock.now = 299.0
        assert secrets.get("A_KEY") == "first-value"
        assert source.asked == ["place"]
        clock.now = 301.0
        assert secrets.get("A_KEY") == "first-value", "and a thread asks"
        go_on.set()
        settle(bench, source)
        assert secrets.get("A_KEY") == "second-value"
        source.values["place"] = "third-value"
        clock.now = 1_000.0
        assert secrets.get("A_KEY") == "third-value", "what is as old as that is waited for"


async def test_one_that_failed_rests_and_comes_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, source = Clock(monkeypatch), Store(place=UserError("It is locked.", hint="Unlock it."))
    bench.tmp_plugin(source)
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        secrets = bench.runtime.settings.secrets
        assert [secrets.get("A_KEY"), secrets.get("A_KEY")] == ["", ""]
        assert source.asked == ["place"]
        source.values["place"] = KEY
        clock.now = 61.0
        assert secrets.get("A_KEY") == KEY


async def test_what_is_told_where_no_turn_is_goes_to_standard_error(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.tmp_plugin(Store())
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        assert bench.runtime.settings.secrets.get("A_KEY") == ""
    assert capsys.readouterr().err == "A_KEY is not to be had from store: it has nothing there\n"


async def test_a_key_that_a_source_should_have_is_not_made_and_kept_here(bench: Bench) -> None:
    bench.tmp_plugin(Store())
    bench.configure({"secrets.env": {"A_KEY": "store:place"}})
    async with bench:
        secrets = bench.runtime.settings.secrets
        with pytest.raises(UserError, match="A_KEY is read from store:place"):
            secrets.set("A_KEY", "made-just-now")
        secrets.set("B_KEY", "of-our-own")
        assert secrets.get("B_KEY") == "of-our-own"


async def test_a_source_that_gives_nonsense_by_odd_names_costs_nothing_else(bench: Bench) -> None:
    class Odd(Store):
        def read_all(self, seconds: float) -> Mapping[str, str]:
            return {7: "x", "A_KEY": KEY}  # type: ignore[dict-item]

    bench.tmp_plugin(Odd("odd"))
    bench.tmp_plugin(Store("store", A_KEY="of-the-second"))
    bench.configure({"secrets.bulk": ["odd", "store"]})
    async with bench:
        assert bench.runtime.settings.secrets.get("A_KEY") == "of-the-second"
