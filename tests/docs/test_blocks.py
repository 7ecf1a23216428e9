"""Blocks of the README and of the pages that are not transcripts: they run, parse and hold."""

import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from hermes_core.cli.main import root
from hermes_core.cli.scope import Scope
from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [
    README,
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "reference", "hello"} & set(p.parts)),
]


def found(language: str) -> list:
    """Every block of a language, with the page it is on."""
    blocks = []
    for page in PAGES:
        for number, text in enumerate(
            re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"))
        ):
            blocks.append(pytest.param(text, id=f"{page.relative_to(ROOT)}:{number}"))
    return blocks


def run(command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120)


def hermes_commands() -> list:
    """Every hermes command that is shown in a block of shell commands or between backticks in a table."""
    shown = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [line for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", text) for line in block.splitlines()]
        lines += re.findall(r"`(hermes [^`…]+)`", text)
        for line in lines:
            match = re.search(r"(?:^|&& |hermes )(hermes(?: .*)?)$", line.split("  #")[0].strip())
            if match and not set("…|$[<") & set(re.sub(r'".*?"', "", match[1])):
                shown.append(pytest.param(match[1], id=f"{page.name}: {match[1][:60]}"))
    return shown


@pytest.mark.parametrize("line", hermes_commands())
def test_a_command_that_is_shown_exists_with_its_options(line, monkeypatch, tmp_path):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))  # commands of plugins are looked up
    words = shlex.split(line.replace("KIND", "tool"))[1:]
    command, context = root, click.Context(root, info_name="hermes", obj=Scope(None), **root.context_settings)
    while True:
        if "--help" in words or "-h" in words:
            return
        try:
            command.parse_args(context, list(words))
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            return  # named in a sentence, without what it is to work on
        words = [*context._protected_args, *context.args]
        if not isinstance(command, click.Group) or not words:
            return
        if words[0].isupper():  # a placeholder, such as COMMAND
            return
        name, inner, words = command.resolve_command(context, words)
        context = click.Context(inner, info_name=name, parent=context, obj=context.obj)
        command = inner


@pytest.mark.parametrize("text", found("yaml"))
def test_settings_that_are_shown_are_understood(text, tmp_path):
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    settings = load_settings(Home.find(environ={"HERMES_HOME": str(tmp_path)}))
    assert settings.raw.keys() == yaml.safe_load(text).keys()


@pytest.mark.parametrize("text", found("toml"))
def test_toml_that_is_shown_is_toml(text):
    assert tomllib.loads(text)


@pytest.mark.parametrize("text", found("python"))
def test_python_that_is_shown_is_python(text):
    compile(text, "block", "exec")


@pytest.mark.parametrize("file", sorted((ROOT / "docs" / "examples").rglob("*.py")), ids=lambda p: p.name)
def test_an_example_is_python_and_small(file):
    text = file.read_text(encoding="utf-8")
    compile(text, str(file), "exec")
    assert len(text.splitlines()) <= 60


def test_every_example_is_shown_or_used_on_a_page():
    told = "\n".join(p.read_text(encoding="utf-8") for p in PAGES)
    unused = [
        f.name
        for f in (ROOT / "docs" / "examples").rglob("*.py")
        if f"examples/{f.relative_to(ROOT / 'docs' / 'examples')}" not in told
        and f.parent.name != "dice"
        and f.name != "conftest.py"
    ]
    assert not unused


def test_every_file_a_page_includes_is_there():
    for page in PAGES:
        for name in re.findall(r"```\{(?:literalinclude|image)\} (\S+)", page.read_text(encoding="utf-8")):
            assert (page.parent / name).is_file(), f"{page.name} includes {name}"


def test_every_page_is_reachable():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [
        p.relative_to(ROOT / "docs").with_suffix("") for p in PAGES if p not in (README, ROOT / "docs" / "index.md")
    ]
    assert not [str(p) for p in pages if f"\n{p}\n" not in index]


@pytest.mark.long
def test_the_example_of_the_readme_uses_tools_and_answers(newcomer):
    block = re.search(r"<!-- example -->\n```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    words = shlex.split(block)
    done = run(words[words.index("hermes") :], newcomer)
    assert done.returncode == 0, done.stderr
    assert "Quick start" in done.stdout
    assert f"Python {sys.version.split()[0]}" in done.stdout
    assert [t for t in ("list_files", "read_file", "terminal") if f"┊ {t} ✓" not in done.stderr] == []


COUNT = '''
def count_words(path: str) -> str:
    """Count the words of a file."""
    return str(len(open(path, encoding="utf-8").read().split()))

'''
FILE = """
from pathlib import Path

from attrs import frozen
from hermes_core import tool

@frozen
class File:
    path: str
"""


def readme_python(word: str) -> str:
    (block,) = [b for b in re.findall(r"(?ms)^```python\n(.*?)^```$", README.read_text("utf-8")) if word in b]
    return block


def test_the_program_in_the_readme_runs(newcomer, tmp_path):
    block = readme_python("Agent(")
    asked = re.search(r'agent\.run\("(.*?)"\)', block)[1]
    block = block.replace(asked, "use the tool count_words with path=README.md")
    program = tmp_path / "program.py"
    program.write_text(COUNT + block.replace("Agent(", 'Agent(provider="offline", '), encoding="utf-8")
    done = run([sys.executable, str(program)], newcomer)
    assert done.returncode == 0, done.stderr
    assert str(len(README.read_text(encoding="utf-8").split())) in done.stdout
    assert "HistoryEntry" in done.stdout


async def test_the_tool_in_the_readme_works(tmp_path):
    names: dict = {}
    exec(FILE + readme_python("@tool"), names)
    (tmp_path / "note.txt").write_text("one two three")
    assert await names["count_words"].run(None, names["File"](str(tmp_path / "note.txt"))) == "3 words"


LATER = """# /// hermes
# api = 2
# name = "later"
# kind = "tool"
# summary = "From the future."
# ///
"""


@pytest.mark.parametrize(
    ("status", "command"),
    [
        (0, "hermes --provider offline -z hello"),
        (1, "hermes --provider ollama --model m -z hello"),  # nobody listens there
        (2, "hermes sessions show nosuch"),
        (3, "hermes plugins info later"),
    ],
)
@pytest.mark.few(2)
def test_an_exit_status_means_what_the_documentation_says(status, command, newcomer, tmp_path):
    plugins = tmp_path / "state" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "later.py").write_text(LATER, encoding="utf-8")
    (tmp_path / "state" / "config.yaml").write_text("agent: {backoff_seconds: 0}\n", encoding="utf-8")
    assert run(command.split(), newcomer).returncode == status


def test_an_interrupted_turn_ends_with_130(newcomer, model_server):
    slow = ["hermes", "--json", "--provider", "vllm", "--model", "echo-l60000", "-z", "hello"]
    env = {**newcomer, "VLLM_BASE_URL": model_server}
    with subprocess.Popen(slow, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as turn:
        assert "started" in turn.stdout.readline()
        turn.send_signal(signal.SIGINT)
        turn.communicate(timeout=60)
    assert turn.returncode == 130


def test_the_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]
