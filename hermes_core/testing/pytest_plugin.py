"""What pytest loads when hermes-core is installed. Silent and cheap until a contract class or a fixture is used."""

import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hermes_core.kinds import Provider
    from hermes_core.testing.bench import Bench
    from hermes_core.testing.cassettes import Cassette
    from hermes_core.testing.clock import Clock
    from hermes_core.testing.scripted import ScriptedProvider

pytest.register_assert_rewrite(
    "hermes_core.testing.contract_base",
    "hermes_core.testing.contract_backend",
    "hermes_core.testing.contract_memory",
    "hermes_core.testing.contract_platform",
    "hermes_core.testing.contract_provider",
    "hermes_core.testing.contract_tool",
    "hermes_core.testing.places",
)


def _contract(cls: object) -> Any:
    """The class itself when it is somebody's contract class, else None; imports nothing."""
    base = sys.modules.get("hermes_core.testing.contract_base")
    if base is None or not isinstance(cls, type) or not issubclass(cls, base.PluginContract):
        return None
    return None if cls.__module__.startswith("hermes_core.testing.") else cls


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> None:
    """Refuse a contract class that was bent."""
    if name.startswith("Test") and (cls := _contract(obj)):
        from hermes_core.testing.contract_base import deviations

        if found := deviations(cls):
            raise collector.CollectError(
                f"{name} changes its contract:\n- " + "\n- ".join(found) + "\nA contract is inherited whole."
            )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what a contract class says it cannot keep yet."""
    cls = _contract(getattr(item, "cls", None))
    reason = cls.xfails.get(getattr(item, "originalname", item.name)) if cls else None
    if reason:
        item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Watch what a plugin reaches for while its contract is tested."""
    cls = _contract(pyfuncitem.cls)
    witness = cls.witness() if cls else None
    if witness is None:
        return (yield)
    with witness:
        result = yield
    if witness.findings:
        pytest.fail(f"{cls.module} did what its manifest does not disclose:\n- " + "\n- ".join(witness.findings))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: "pytest.CallInfo[None]"
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name the layer of a failure below it, and for the table at the end."""
    report = yield
    if report.failed and call.excinfo is not None:
        from hermes_core.testing.layers import layer_of

        layer = layer_of(call.excinfo.value, item.path, getattr(item, "fixturenames", ()))
        report.sections.append(("layer", f"{layer.name}: {layer.where}"))
        report.__dict__["layer"] = layer.name  # travels to the process that tells, when several run tests
    return report


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """List failures by layer, the layer with the most first."""
    found: dict[str, list[str]] = {}
    for outcome in ("failed", "error"):
        for report in terminalreporter.stats.get(outcome, ()):
            if layer := getattr(report, "layer", ""):
                found.setdefault(layer, []).append(report.nodeid)
    if found:
        terminalreporter.section("failures by layer")
    for layer, tests in sorted(found.items(), key=lambda one: -len(one[1])):
        terminalreporter.line(f"{len(tests):4d}  {layer}")
        for test in tests[:5]:
            terminalreporter.line(f"      {test}")


@pytest.fixture
def scripted() -> Iterator[Callable[..., "ScriptedProvider"]]:
    """Make ScriptedProviders that are checked at the end: ``provider = scripted("hello", Call("now"))``."""
    from hermes_core.testing.scripted import ScriptedProvider

    made: list[ScriptedProvider] = []

    def make(*steps: Any, **options: Any) -> "ScriptedProvider":
        made.append(ScriptedProvider(steps, **options))
        return made[-1]

    yield make
    for provider in made:
        provider.check()


@pytest.fixture
def clock() -> "Iterator[Clock]":
    """Turn the time of a test: ``clock.turn(days=1)``. It stands on time-machine."""
    from hermes_core.testing.clock import turned

    with turned() as made:
        yield made


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> "Iterator[Callable[[Provider | None], Cassette]]":
    """Make the Cassette of a test: ``hermes.tmp_plugin(cassette(provider))`` records, ``cassette()`` replays.

    Its tape lies in ``cassettes`` beside the test. The test fails where a reply on it was not asked for.
    """
    from hermes_core.testing.cassettes import Cassette

    made: list[Cassette] = []
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in f"{request.path.stem}-{request.node.name}")

    def make(provider: "Provider | None" = None) -> Cassette:
        made.append(Cassette(request.path.parent / "cassettes" / f"{name}.jsonl", provider))
        return made[-1]

    yield make
    for tape in made:
        assert not tape.left, f"{tape.left} replies of the tape {name} were not asked for"


def _async_fixture(function: Any) -> Any:
    """pytest-asyncio's fixture where there is one, which serves its strict mode too. Importing it again is free."""
    try:
        import pytest_asyncio
    except ImportError:
        return pytest.fixture(function)
    return pytest_asyncio.fixture(function)


@_async_fixture
async def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "AsyncIterator[Bench]":
    """A kernel with nothing installed and a home of its own; ``hermes.tmp_plugin(…)`` installs. Discovery is refused.

    ``hermes.tmp_plugin(scripted("Hello."))`` and ``(await hermes.run("Hi.")).text`` make a first test.
    """
    import hermes_core.plugins.index
    from hermes_core.testing.bench import Bench

    def refused(*_: object, **__: object) -> None:
        raise RuntimeError("Tests do not look for installed plugins; put them in with hermes.tmp_plugin(…).")

    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(hermes_core.plugins.index, "load_index", refused)
    bench = Bench(tmp_path / "home")
    yield bench
    await bench.close()
