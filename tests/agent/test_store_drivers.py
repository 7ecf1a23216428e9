"""A store at an address is opened by the plugin that declares its scheme, or nothing is stored anywhere."""

import shutil
import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from hermes_core.agent.opening import driver_for
from hermes_core.database import Database
from hermes_core.embed import HERMES, Hermes
from hermes_core.errors import HermesError, PluginError, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import StoreDriver
from hermes_core.testing import Bench, StoreDriverContract

EXAMPLE = Path(__file__).parents[2] / "docs/examples/elsewhere"


def example() -> Any:
    name = "elsewhere_example"
    spec = spec_from_file_location(name, EXAMPLE / "__init__.py", submodule_search_locations=[str(EXAMPLE)])
    assert spec
    assert spec.loader
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestExample(StoreDriverContract):
    @pytest.fixture
    def driver(self) -> StoreDriver:
        made: StoreDriver = example().Elsewhere()
        return made

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"elsewhere://{tmp_path}/store.db"


class Refusing(StoreDriver):
    """Says that it was asked."""

    name = "refusing"

    def open(self, url: str, statements: Mapping[str, str]) -> Database:
        raise UserError("asked to open it")


async def refused(bench: Bench) -> HermesError:
    with pytest.raises(HermesError) as caught:
        await bench.runtime.store()
    assert not bench.runtime.home.database.exists(), "a file took the place of the server"
    return caught.value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "home")


async def test_only_the_plugin_with_the_scheme_is_loaded_and_asked(bench: Bench) -> None:
    label = bench.tmp_plugin(Refusing())
    bench.tmp_plugin(example().Elsewhere())
    bench.configure({"store.url": "refusing://me:hush@there/x"})
    async with bench:
        assert "asked to open it" in str(await refused(bench))
        assert list(bench.runtime.loader.loaded) == [label]


async def test_a_scheme_that_nobody_opens_is_said_with_the_command(bench: Bench) -> None:
    bench.configure({"store.url": "postgresql://me:hush@there/x"})
    async with bench:
        error = await refused(bench)
    assert "no plugin here opens such a store" in str(error)
    assert "pip install 'hermes-core[postgresql]'" in error.hint
    assert "hush" not in f"{error} {error.hint}"


@pytest.mark.parametrize("address", ["hush", "host=there password=hush", "POSTGRESQL://me:hush@x", "/hush/state.db"])
async def test_what_is_no_address_is_refused_without_a_word_of_it(bench: Bench, address: str) -> None:
    bench.configure({"store.url": address})
    async with bench:
        error = await refused(bench)
    assert "store.url is not an address" in str(error)
    assert "hush" not in f"{error} {error.hint}"


async def test_a_driver_that_was_declared_and_is_not_there_is_told(bench: Bench) -> None:
    @hookimpl
    def register_stores() -> list[StoreDriver]:
        return []

    bench.tmp_plugin(register_stores, manifest={"contributes": {"stores": ["gone"]}})
    bench.configure({"store.url": "gone://x"})
    async with bench:
        assert "declares gone and registers none" in str(await refused(bench))


async def test_a_plugin_that_was_not_enabled_opens_nothing(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "plugins" / "elsewhere")
    async with Hermes(HERMES, home=tmp_path, config={"store.url": f"elsewhere://{tmp_path}/x.db"}) as hermes:
        runtime = hermes.runtime
        with pytest.raises(PluginError, match="not enabled") as caught:
            driver_for("elsewhere://x", runtime.index, runtime.loader, runtime.dispatch)
        assert caught.value.hint == "hermes plugins enable backend/elsewhere"
        with pytest.raises(PluginError, match="not enabled"):
            await runtime.store()
    assert not list(tmp_path.glob("*.db"))
