"""One broken plugin costs its own feature: every phase in which it can fail, and a death of the whole process."""

import asyncio
import json
import subprocess
import sys
import textwrap
import time

import pytest

from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings
from hermes_core.errors import ConfigError, ContractError, LoadError, NotPermitted, PluginError
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import load_index
from hermes_core.plugins.loader import Loader, import_plugin
from hermes_core.testing.check import inspect_plugin
from hermes_core.types import ToolCall

GOOD = """
from hermes_core import hookimpl
from hermes_core.kinds import tool

@tool
async def {name}() -> str:
    "A tool."
    return "{name}"

@hookimpl
def register_tools():
    return [{name}]
"""
GATE = """
import asyncio
from hermes_core import hookimpl
from hermes_core.types import Verdict

@hookimpl
async def pre_tool_call(call):
    {body}
"""


def tool_plugin(site, name, **more):
    return site.package(f"tool/{name}", GOOD.format(name=name), tables={"contributes": {"tools": [name]}}, **more)


async def nobody(*_):
    raise AssertionError("no kernel here")


class Kernel:
    def __init__(self, site, *, builtin=("hermes-*",), settings="", **options):
        home = Home.find(environ={"HERMES_HOME": str(site.lock.parent)})
        if settings:
            home.config_file.write_text(settings)
        self.index = load_index(site.cache, site.user, first=builtin)
        self.consent = Consent(site.lock, builtin=builtin)
        self.dispatch = Dispatch(deadlines={"decide": 0.05})
        made = load_settings(home)
        self.loader = Loader(
            self.index,
            self.consent,
            self.dispatch,
            context=lambda installed: make_context(installed, made),
            markers=site.crash_markers,
            **options,
        )

    def load(self, label, **more):
        return self.loader.load(self.index.get(label), **more)

    def tools(self):
        self.loader.load_contributing("tools")
        return [tool.name for _, tool in self.dispatch.contributions("register_tools")]

    @property
    def faults(self):
        return {f.plugin: f for f in (*self.index.faults, *self.dispatch.faults)}


def test_the_fault_matrix(site):
    tool_plugin(site, "good")
    names = {"contributes": {"tools": ["x"]}}
    hook = {"hooks": {"use": ["pre_tool_call"]}, **names}
    site.package("tool/absent", "import RPi.GPIO", tables=names)
    site.package("tool/syntax", "def (", tables=names)
    site.package("tool/exits", "import sys; sys.exit(3)", tables=names)
    site.package("tool/asserts", "assert False, 'no luck'", tables=names)
    site.package("tool/base", "class Odd(BaseException): pass\nraise Odd('deep')", tables=names)
    site.package("tool/missing", "", manifest="")
    site.package("tool/future", "", api=3)
    site.package("tool/sync", GATE.replace("async def", "def").format(body="return None"), tables=hook)
    site.package("tool/stray", GATE.replace("(call)", "(cal)").format(body="return None"), tables=hook)
    site.package("tool/sly", GATE.format(body="return None"), tables=names)
    site.package("tool/unnamed", GOOD.format(name="other"), tables=names)
    site.package(
        "tool/config", "", tables={**names, "config": {"section": "tools.c", "class": "hermes_tool_config:No"}}
    )
    kernel = Kernel(site)
    assert kernel.tools() == ["good"]
    said = {label: (f.phase, f.error) for label, f in kernel.faults.items()}
    assert said == {
        "tool/absent": ("import", "No module named 'RPi'"),
        "tool/syntax": ("import", said["tool/syntax"][1]),
        "tool/exits": ("import", "called sys.exit(3)"),
        "tool/asserts": ("import", "AssertionError: no luck"),
        "tool/base": ("import", "Odd: deep"),
        "tool/missing": ("declare", "has no manifest"),
        "tool/future": ("declare", "needs a newer hermes-core (plugin API 3, this is 1)"),
        "tool/sync": ("register", "pre_tool_call: must be an 'async def' that returns its answer"),
        "tool/stray": ("register", "pre_tool_call: there is no argument 'cal'"),
        "tool/sly": ("register", "uses the hook 'pre_tool_call' without declaring it"),
        "tool/unnamed": ("register", "register_tools adds 'other' without declaring it"),
        "tool/config": ("register", "hermes_tool_config has no class No"),
    }
    assert "SyntaxError" in said["tool/syntax"][1]
    assert all(fault.hint and fault.version == "1.0" and "\n" not in fault.error for fault in kernel.faults.values())
    assert list(kernel.loader.loaded) == ["tool/good", "tool/unnamed"]


async def test_a_gate_that_raises_or_hangs_refuses_and_names_itself(site):
    for name, body in (("hangs", "await asyncio.Event().wait()"), ("raises", "raise ValueError('x')")):
        site.package(f"tool/{name}", GATE.format(body=body), tables={"hooks": {"use": ["pre_tool_call"]}})
        kernel = Kernel(site)
        kernel.loader.load_hooks("pre_tool_call")
        verdict = await kernel.dispatch.decide(
            "pre_tool_call", session=None, call=ToolCall(id="1", name="n", arguments={}), effects=frozenset()
        )
        assert verdict.outcome == "deny"
        (site.packages / f"hermes_tool_{name}").rename(site.packages / f"gone_{name}")
        assert verdict.by == f"tool/{name}"


def test_two_owners_of_one_tool_are_named_and_ours_works(site):
    site.package("tool/aaa", GOOD.format(name="now"), tables={"contributes": {"tools": ["now"]}}, distribution="aaa")
    tool_plugin(site, "now")
    kernel = Kernel(site)
    kernel.consent.enable(kernel.index.get("tool/aaa"))
    assert kernel.tools() == ["now"]
    assert [owner for owner, _ in kernel.dispatch.contributions("register_tools")] == ["tool/now"]
    assert {f.error for f in kernel.dispatch.faults} == {
        "hermes-tool-now and aaa both add 'now'; hermes-tool-now is used"
    }


def test_what_is_not_enabled_is_not_imported(site):
    site.package("tool/stranger", "raise SystemExit('imported')", tables={"contributes": {"tools": ["x"]}})
    kernel = Kernel(site, builtin=())
    assert kernel.tools() == []
    assert kernel.faults == {}
    with pytest.raises(PluginError, match="is not enabled") as caught:
        kernel.load("tool/stranger", named=True)
    assert caught.value.hint == "hermes plugins enable tool/stranger"


def test_a_plugin_that_grew_is_not_imported_until_it_is_allowed_again(site):
    folder = tool_plugin(site, "grow")
    kernel = Kernel(site, builtin=())
    kernel.consent.enable(kernel.index.get("tool/grow"))
    assert kernel.tools() == ["grow"]
    (folder / "hermes-plugin.toml").write_text(
        site.text("tool/grow", {"contributes": {"tools": ["grow"]}, "permissions": {"processes": ["chromium"]}})
    )
    kernel = Kernel(site, builtin=())
    assert kernel.tools() == []
    assert kernel.faults["tool/grow"].phase == "consent"
    assert kernel.faults["tool/grow"].error == "now also: starts chromium"
    kernel.consent.enable(kernel.index.get("tool/grow"))
    assert kernel.tools() == ["grow"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import sys; sys.exit()", LoadError),
        ("raise ValueError('x')", LoadError),
        ("from hermes_core import hookimpl\n@hookimpl\nasync def admit(): ...", NotPermitted),
        ("from hermes_core import hookimpl\n@hookimpl\ndef admitt(): ...", ContractError),
    ],
)
def test_a_plugin_that_was_named_raises_each_time_and_is_imported_once(site, code, kind):
    site.package("tool/bad", code)
    kernel = Kernel(site)
    for _ in range(2):
        with pytest.raises(kind) as caught:
            kernel.load("tool/bad", named=True)
        assert "Plugin tool/bad 1.0: " in str(caught.value)
        assert kernel.load("tool/bad") is False
    assert len(kernel.dispatch.faults) == 1


def test_wrong_settings_are_the_persons_to_mend(site):
    config = "from hermes_core.options import settings, option\n@settings\nclass Config:\n"
    config += "    size: int = option('S.', default=1)\n"
    site.package(
        "tool/sized", "", files={"config.py": config},
        tables={"config": {"section": "tools.sized", "class": "hermes_tool_sized.config:Config"}},
    )  # fmt: skip
    kernel = Kernel(site, settings="tools:\n  sized:\n    sise: 3\n")
    with pytest.raises(ConfigError, match="did you mean size"):
        kernel.load("tool/sized", named=True)
    fault = kernel.faults["tool/sized"]
    assert (fault.phase, fault.where, fault.hint) == ("register", "config.yaml", "hermes config check")


def test_a_plugin_that_fails_half_way_leaves_nothing_behind(site):
    folder = site.package("tool/half", "from . import part\nraise ValueError('after part')", files={"part.py": ""})
    kernel = Kernel(site)
    assert kernel.load("tool/half") is False
    assert [name for name in sys.modules if name.startswith("hermes_tool_half")] == []
    assert kernel.dispatch.implementations("register_tools") == []
    (folder / "__init__.py").write_text(GOOD.format(name="half"))
    assert Kernel(site).load("tool/half") is True


def test_files_and_folders_load_under_private_names_with_their_own_modules(site):
    tables = {
        "contributes": {"tools": ["json"]},
        "config": {"section": "tools.json", "class": "json_plugin.config:Config"},
    }
    config = "from hermes_core.options import settings\n@settings\nclass Config:\n    '''None.'''\n"
    site.folder(
        "tool/json",
        "from .config import Config\n" + GOOD.format(name="json"),
        tables=tables,
        files={"config.py": config},
    )
    site.file("tool/note", GOOD.format(name="note"), tables={"contributes": {"tools": ["note"]}})
    kernel = Kernel(site)
    for label in ("tool/json", "tool/note"):
        kernel.consent.enable(kernel.index.get(label))
    assert sorted(kernel.tools()) == ["json", "note"]
    assert sys.modules["json"] is json


def test_two_homes_with_a_plugin_of_one_name_do_not_share_it(site, tmp_path):
    site.file("tool/note", "home = 1")
    first = load_index(site.cache, site.user).get("tool/note")
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.py").write_text((site.user / "note.py").read_text().replace("home = 1", "home = 2"))
    second = load_index(site.cache, other).get("tool/note")
    assert [import_plugin(one).home for one in (first, second, first)] == [1, 2, 1]


@pytest.mark.parametrize("attribute", ["plugin", "Plugin", "inner.made"])
def test_an_entry_point_may_name_an_object(site, attribute):
    code = """
from types import SimpleNamespace
from hermes_core import hookimpl
from hermes_core.kinds import tool

@tool
async def held() -> str:
    "A tool."
    return "held"

class Plugin:
    @hookimpl
    def register_tools(self):
        return [held]

plugin = Plugin()
inner = SimpleNamespace(made=plugin)
"""
    site.package("tool/held", code, tables={"contributes": {"tools": ["held"]}}, attribute=attribute)
    for _ in range(2):  # the second time from the cache
        kernel = Kernel(site)
        kernel.loader.load_contributing("tools")
        assert [thing.name for _, thing in kernel.dispatch.contributions("register_tools")] == ["held"]
        assert not kernel.dispatch.faults
    assert type(inspect_plugin(kernel.index.get("tool/held"))).__name__ == "Plugin"


def test_an_entry_point_that_names_nothing_is_told(site):
    site.package("tool/held", "", tables={"contributes": {"tools": ["held"]}}, attribute="plugin")
    kernel = Kernel(site)
    kernel.loader.load_contributing("tools")
    (fault,) = kernel.dispatch.faults
    assert (fault.plugin, fault.phase) == ("tool/held", "import")
    assert "has no attribute 'plugin'" in fault.error


def test_only_what_is_asked_for_is_loaded(site):
    tool_plugin(site, "one")
    tool_plugin(site, "two")
    kernel = Kernel(site)
    kernel.loader.load_contributing("tools", ["two", "three"])
    assert list(kernel.loader.loaded) == ["tool/two"]
    kernel.loader.load_contributing("providers")
    kernel.loader.load_hooks("admit")
    assert list(kernel.loader.loaded) == ["tool/two"]


SERVES = """
from hermes_core import hookimpl
@hookimpl
async def on_turn_end(session, end): pass
"""


def test_what_is_alive_only_where_it_serves_is_loaded_by_its_names_alone(site):
    path = site.package(
        "platform/pager",
        SERVES,
        tables={"contributes": {"platforms": ["pager"], "services": ["tick"]}, "hooks": {"use": ["on_turn_end"]}},
    )
    manifest = path / "hermes-plugin.toml"
    text = manifest.read_text()
    for alive, loaded in (("always", ["platform/pager"]), ("serving", [])):
        manifest.write_text(f'alive = "{alive}"\n{text}')
        kernel = Kernel(site)
        kernel.loader.load_hooks("on_turn_end")
        assert list(kernel.loader.loaded) == loaded
        kernel = Kernel(site)
        kernel.loader.load_contributing("services")
        assert list(kernel.loader.loaded) == loaded
    kernel.loader.load_contributing("platforms", ["pager"])
    assert kernel.dispatch.implementations("on_turn_end") == ["platform/pager"]


def test_control_c_during_an_import_is_not_a_plugins_fault(site):
    site.package("tool/slow", "raise KeyboardInterrupt", distribution="slow")
    kernel = Kernel(site)
    kernel.consent.enable(kernel.index.get("tool/slow"))
    with pytest.raises(KeyboardInterrupt):
        kernel.load("tool/slow")
    assert list(site.crash_markers.glob("*")) == []


def test_strict_raises_what_the_plugin_raised(site):
    site.package("tool/bad", "raise LookupError('x')")
    with pytest.raises(LookupError):
        Kernel(site, strict=True).load("tool/bad")


def test_a_fault_at_import_is_told_to_observers_once_a_loop_runs(site):
    site.package("tool/bad", "raise ValueError('x')")
    code = (
        "from hermes_core import hookimpl\nseen = []\n@hookimpl\nasync def on_fault(fault):\n    seen.append(fault)\n"
    )
    site.package("tool/ear", code, tables={"hooks": {"use": ["on_fault"]}})
    kernel = Kernel(site)
    kernel.loader.load_hooks("on_fault")
    kernel.load("tool/bad")

    async def session():
        await kernel.dispatch.observe("on_session_start", session=None)
        await kernel.dispatch.settle()

    asyncio.run(session())
    assert [fault.plugin for fault in sys.modules["hermes_tool_ear"].seen] == ["tool/bad"]


def test_a_plugin_of_the_same_entry_point_name_is_not_imported_by_inspection(site):
    tool_plugin(site, "sameword")
    site.package("memory/sameword", "raise SystemExit('imported unasked')")
    index = load_index(site.cache, site.user)
    assert inspect_plugin(index.get("tool/sameword")).__name__ == "hermes_tool_sameword"
    assert "hermes_memory_sameword" not in sys.modules
    with pytest.raises(SystemExit, match="imported unasked"):
        inspect_plugin(index.get("memory/sameword"))


def in_a_process(site, label):
    """Start, load one third-party plugin, and say what came of it."""
    code = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from hermes_core.plugins.consent import Consent
        from hermes_core.plugins.dispatch import Dispatch
        from hermes_core.plugins.index import load_index
        from hermes_core.plugins.loader import Loader
        index = load_index(Path({str(site.cache)!r}), Path({str(site.user)!r}))
        consent = Consent(Path({str(site.lock)!r}))
        consent.enable(index.get({label!r}))
        dispatch = Dispatch()
        loader = Loader(index, consent, dispatch, context=lambda p: None, markers=Path({str(site.crash_markers)!r}))
        print("start"); loader.load(index.get({label!r}))
        print([f.error for f in dispatch.faults])
    """)
    env = {"PYTHONPATH": ":".join(sys.path)}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_plugin_that_kills_the_process_is_skipped_at_the_next_start(site):
    site.package("tool/crash", "import os; os.abort()", distribution="crash")
    assert in_a_process(site, "tool/crash").returncode == -6
    second = in_a_process(site, "tool/crash")
    assert (second.returncode, second.stderr) == (0, "")
    assert "its import ended the whole process, so it is skipped this once" in second.stdout
    assert in_a_process(site, "tool/crash").returncode == -6
    assert "skipped this once" in in_a_process(site, "tool/crash").stdout
    assert "2 times, so it is not tried again" in in_a_process(site, "tool/crash").stdout
    kernel = Kernel(site)
    plugin = kernel.index.get("tool/crash")
    kernel.loader.crash_markers.forgive(plugin)
    assert list(site.crash_markers.glob("*")) == []
    with kernel.loader.crash_markers.laid(plugin):
        pass


def test_code_that_was_mended_is_tried_again_at_once(site):
    site.file("tool/crash", "import os; os.abort()")
    assert in_a_process(site, "tool/crash").returncode == -6
    site.file("tool/crash", "mended = True")
    mended = in_a_process(site, "tool/crash")
    assert (mended.returncode, mended.stdout) == (0, "start\n[]\n")


def test_another_start_that_imports_the_same_plugin_now_is_not_a_death(site):
    tool_plugin(site, "calm", distribution="calm")
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    kernel = Kernel(site)
    plugin = kernel.index.get("tool/calm")
    kernel.consent.enable(plugin)
    marker = site.crash_markers / "tool-calm.json"
    with kernel.loader.crash_markers.laid(plugin):
        ours = json.loads(marker.read_text())
    marker.write_text(json.dumps({**ours, "pid": other.pid}))
    with kernel.loader.crash_markers.laid(plugin):
        pass
    marker.write_text(json.dumps({**ours, "pid": other.pid}))
    other.communicate(b"\n")
    marker.write_text(json.dumps({**ours, "pid": other.pid}))
    with pytest.raises(LoadError, match="skipped this once"), kernel.loader.crash_markers.laid(plugin):
        pass
    assert kernel.load("tool/calm") is True


def test_a_folder_of_markers_that_cannot_be_written_costs_no_plugin(site):
    tool_plugin(site, "calm", distribution="calm")
    site.crash_markers.parent.mkdir(exist_ok=True)
    kernel = Kernel(site)
    site.crash_markers.write_text("a file where the folder should be")
    kernel.consent.enable(kernel.index.get("tool/calm"))
    assert kernel.load("tool/calm") is True


HANGS = """
import time
from hermes_core import hookimpl
@hookimpl
def register_tools():
    time.sleep(60)
"""


def test_a_hang_while_it_registers_costs_only_this_plugin_and_is_remembered(site, monkeypatch):
    monkeypatch.setattr("hermes_core.plugins.dispatch.REGISTER_DEADLINE", 0.2)
    site.package("tool/hangs", HANGS, distribution="other-hangs", tables={"contributes": {"tools": ["x"]}})
    tool_plugin(site, "good")
    kernel = Kernel(site)
    [label] = [p.label for p in kernel.index.plugins if p.label != "tool/good"]
    kernel.consent.enable(kernel.index.get(label))
    began = time.monotonic()
    assert kernel.tools() == ["good"]
    assert time.monotonic() - began < 20
    fault = kernel.faults[label]
    assert (fault.phase, fault.where, fault.error) == ("register", "register_tools", "did not end within 0.2 s")
    assert "disable" in fault.hint
    again = Kernel(site)
    assert again.tools() == ["good"]
    assert again.faults[label].error == "register_tools did not end within 0.2 s, so it is not tried again"
    again.loader.crash_markers.forgive(again.index.get(label))
    assert Kernel(site).load(label), "enabled anew, it is tried again"


def test_a_hang_at_import_costs_only_this_plugin_and_is_remembered(site, monkeypatch):
    monkeypatch.setattr("hermes_core.plugins.loader.REGISTER_DEADLINE", 0.2)
    code = "import time\ntime.sleep(60)\n"
    site.package("tool/hangs", code, distribution="other-hangs", tables={"contributes": {"tools": ["x"]}})
    tool_plugin(site, "good")
    kernel = Kernel(site)
    [label] = [p.label for p in kernel.index.plugins if p.label != "tool/good"]
    kernel.consent.enable(kernel.index.get(label))
    assert kernel.tools() == ["good"]
    assert (kernel.faults[label].phase, kernel.faults[label].error) == ("import", "did not end within 0.2 s")
    again = Kernel(site)
    assert again.tools() == ["good"]
    assert again.faults[label].error == "its import did not end within 0.2 s, so it is not tried again"


@pytest.mark.parametrize(
    "mark", ["", "import pluggy\nhookimpl = pluggy.HookimplMarker('other')\n"], ids=["none", "foreign"]
)
def test_what_is_declared_and_not_marked_is_told(site, mark):
    code = f"{mark}def register_tools(): return []\nasync def pre_tool_call(call): pass\n"
    code = code.replace("def ", "@hookimpl\ndef ").replace("async @hookimpl\n", "@hookimpl\nasync ") if mark else code
    tables = {"contributes": {"tools": ["x"]}, "hooks": {"use": ["pre_tool_call"]}}
    site.package("tool/unmarked", code, tables=tables)
    kernel = Kernel(site)
    assert kernel.load("tool/unmarked")
    fault = kernel.faults["tool/unmarked"]
    assert (fault.phase, fault.error) == ("register", "declared and not registered: pre_tool_call, register_tools")
    assert "@hookimpl" in fault.hint
