"""The quality scale: every first-party plugin answers every rule, and a rule not kept says why."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECTS = {p.parent: tomllib.loads(p.read_text())["project"] for p in sorted(ROOT.glob("plugins/*/pyproject.toml"))}
KERNEL_NEEDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
PLUGINS = [folder for folder, project in PROJECTS.items() if "hermes.plugins" in project.get("entry-points", {})]
HOST = "hermes-platform-gateway"  # what a chat service cannot live without; it brings what a bot needs
TERMINAL = "hermes-platform-cli"  # the same for what opens in a terminal
LIBRARIES = [folder for folder in PROJECTS if folder not in PLUGINS]
RULES = {
    "bronze": ["contract-passes", "readme", "owner", "manifest-honest", "import-light"],
    "silver": [
        "strict-types",
        "branch-coverage-90",
        "re-login-flow",
        "bounded-retries",
        "faults-carry-hints",
        "secrets-never-shown",
        "cancel-leaves-nothing",
    ],
    "gold": ["failure-cassettes", "doctor-checks", "troubleshooting", "settings-have-examples"],
    "platinum": ["no-blocking-call", "import-under-30-ms", "fuzzed-inputs"],
}


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda p: p.name)
class TestPlugin:
    def test_it_answers_every_rule_of_the_scale(self, plugin: Path) -> None:
        scale = yaml.safe_load((plugin / "quality.yaml").read_text())
        assert {tier: sorted(rules) for tier, rules in scale.items()} == {t: sorted(r) for t, r in RULES.items()}
        for rules in scale.values():
            for rule, state in rules.items():
                kept = state == "done"
                assert kept or (next(iter(state)) in ("todo", "exempt") and next(iter(state.values()))), rule

    def test_it_is_silver_before_it_ships(self, plugin: Path) -> None:
        scale = yaml.safe_load((plugin / "quality.yaml").read_text())
        owed = [rule for tier in ("bronze", "silver") for rule, state in scale[tier].items() if "todo" in state]
        assert owed == []

    def test_its_names_follow_one_rule(self, plugin: Path) -> None:
        name = plugin.name.removeprefix("hermes-")
        kind, _, short = name.partition("-")
        module = plugin / "src" / f"hermes_{name.replace('-', '_')}"
        manifest = (module / "hermes-plugin.toml").read_text()
        assert f'name = "{short}"' in manifest
        assert f'kind = "{kind}"' in manifest
        assert f'{short} = "{module.name}"' in (plugin / "pyproject.toml").read_text()

    def test_it_depends_on_the_kernel_and_on_no_plugin_but_its_host(self, plugin: Path) -> None:
        wanted = [re.sub(r"\[\w+\]", "", one) for one in PROJECTS[plugin]["dependencies"]]  # with an extra, too
        kits = {f"{library.name}>=1.0,<2" for library in LIBRARIES}
        kits |= {f"{HOST}>=1.0,<2", f"{TERMINAL}>=1.0,<2"} if plugin.name.startswith("hermes-platform-") else set()
        kits |= {f"{brought.name}>=1.0,<2" for brought in PLUGINS} if plugin.name == HOST else set()
        assert [w for w in wanted if w.startswith("hermes-") and w not in kits] == ["hermes-core>=1.0,<2"]
        assert not [w for w in wanted if "==" in w]

    def test_it_has_a_readme_and_a_contract_test(self, plugin: Path) -> None:
        assert len((plugin / "README.md").read_text().splitlines()) > 10
        assert list((plugin / "tests").glob("test_*contract*.py"))


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda p: p.name)
def test_a_library_says_what_it_has_and_stands_on_the_kernel_and_libraries(library: Path) -> None:
    assert len((library / "README.md").read_text().splitlines()) > 10
    assert list((library / "tests").glob("test_*.py"))
    assert not list(library.glob("src/*/hermes-plugin.toml"))
    wanted = PROJECTS[library]["dependencies"]
    others = {f"{other.name}>=1.0,<2" for other in LIBRARIES if other != library}
    below = f"{library.name}>=1.0,<2" in KERNEL_NEEDS  # the kernel stands on it, so it knows nothing of Hermes
    alone = not any("hermes_core" in file.read_text("utf-8") for file in library.glob("src/**/*.py"))  # nor does this
    ours = [w for w in wanted if w.startswith("hermes-") and w not in others]
    assert ours == ["hermes-core>=1.0,<2"] * (not below) or (alone and not ours)
    assert not [w for w in wanted if "==" in w]
