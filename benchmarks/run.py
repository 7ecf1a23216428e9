"""The figures of the house, each against a named baseline in the same run. ``run.py [--rounds N]``.

Prints a table and writes ``results.json`` beside this file. A figure that misses its bound is shown as it is; the
exit status is 1 then.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from measure import paired, run

HERE = Path(__file__).parent
PYTHON = sys.executable
HERMES = str(Path(sys.executable).with_name("hermes"))
PLUGINS = 40


class Figure(NamedTuple):
    """One measured figure and its bound; ``note`` tells the absolutes."""

    name: str
    value: float
    bound: float
    note: str

    @property
    def kept(self) -> bool:
        """Whether the bound holds."""
        return self.value <= self.bound


@contextmanager
def model_server() -> Iterator[str]:
    """A scripted model; its base URL."""
    with subprocess.Popen([PYTHON, str(HERE / "model_server.py")], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


@contextmanager
def host(env: Mapping[str, str]) -> Iterator[None]:
    """A host of this home that serves this terminal."""
    with subprocess.Popen([HERMES, "host", "run"], env=dict(env), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            process.stderr.readline()  # it listens
            while subprocess.run(
                [HERMES, "host", "status"], env=dict(env), capture_output=True, check=False
            ).returncode:
                if process.poll() is not None:
                    raise RuntimeError(f"the host ended: {process.stderr.read()}")
            yield
        finally:
            process.terminate()


def forty_plugins(folder: Path) -> None:
    """Forty installed plugins: a package with a manifest and a distribution each."""
    for number in range(PLUGINS):
        module = f"bench_plugin_{number}"
        (folder / module).mkdir(parents=True)
        (folder / module / "__init__.py").write_text("")
        manifest = (
            f'api = 1\nname = "bench{number}"\nkind = "tool"\nsummary = "x"\n[contributes]\ntools = ["b{number}"]\n'
        )
        (folder / module / "hermes-plugin.toml").write_text(manifest)
        info = folder / f"bench_plugin_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: bench-plugin-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[hermes.plugins]\nbench{number} = {module}\n")


def notes(url: str) -> list[dict[str, float]]:
    """What the model server saw since it was last asked."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/notes") as response:
        return json.load(response)


def figures(url: str, env: Mapping[str, str], rounds: int) -> Iterator[Figure]:
    """Measure, one after another."""
    version = paired([HERMES, "--version"], [PYTHON, "-c", "pass"], env, rounds=rounds * 2)
    yield Figure("--version / python -c pass", version.ratio, 1.1, f"{version.ours.wall * 1000:.0f} ms")
    bare = [PYTHON, str(HERE / "bare.py"), url]
    for model, bound in (("echo", 1.9), ("echo-l300", 1.25)):
        got = paired([HERMES, "-z", "hello", "-m", model], [*bare, model], env, rounds=rounds)
        absolute = f"{got.ours.wall * 1000:.0f} ms / {got.baseline.wall * 1000:.0f} ms"
        yield Figure(f"-z {model} / bare httpx2", got.ratio, bound, absolute)
        if model == "echo":
            yield Figure("its peak memory, MB", got.ours.peak, 45, f"bare {got.baseline.peak:.0f} MB")
    with host(env):
        got = paired([HERMES, "-z", "hello"], [*bare, "echo"], env, rounds=rounds * 2)
        absolute = f"{got.ours.wall * 1000:.0f} ms / {got.baseline.wall * 1000:.0f} ms"
        yield Figure("-z through a host / bare httpx2", got.ratio, 0.7, absolute)
    notes(url)
    run([HERMES, "-z", "hello", "-m", "echo"], env)
    yield Figure("first request's body, bytes", notes(url)[0]["bytes"], 9_000, "default toolsets")
    yield from gaps(url, env)
    medians = []
    for model in ("tools-1-s200", "parallel-8-s200"):
        taken = []
        for _ in range(rounds):
            run([HERMES, "--yolo", "-z", "go", "-m", model], env)
            first, second = notes(url)
            taken.append((second["start"] - first["end"]) * 1000)
        medians.append(statistics.median(taken))
    one, eight = medians
    yield Figure("eight calls / one, sleep 0.2", eight / one, 1.3, f"{eight:.0f} ms / {one:.0f} ms")
    got = paired([HERMES, "-z", "x", "-m", "stream-20000"], [*bare, "stream-20000", "stream"], env, rounds=rounds)
    absolute = f"{got.ours.wall * 1000:.0f} ms / {got.baseline.wall * 1000:.0f} ms"
    yield Figure("stream-20000 / bare httpx2", got.ratio, 3.0, absolute)
    from tui import first_frame  # it stands on this module

    yield first_frame(env, rounds)
    with host(env):
        yield first_frame(env, rounds, 1.3, " through a host")


def gaps(url: str, env: Mapping[str, str]) -> Iterator[Figure]:
    """From the end of a reply to the next request, with a command between them: by the wall the command is behind."""
    home = Path(env["HERMES_HOME"])
    for wall in ("auto", "landlock", "none"):
        walled = home.with_name(f"home-{wall}")
        walled.mkdir()
        (walled / "config.yaml").write_text(
            f"{(home / 'config.yaml').read_text()}backends: {{local: {{wall: {wall}}}}}\n"
        )
        taken = []
        for _ in range(3):
            run([HERMES, "--yolo", "-z", "go", "-m", "tools-20"], {**env, "HERMES_HOME": str(walled)})
            taken.append(statistics.median(b["start"] - a["end"] for a, b in pairwise(notes(url))) * 1000)
        name = "tools-20: gap, ms" if wall == "auto" else f"tools-20: gap, wall {wall}, ms"
        yield Figure(name, statistics.median(taken), 5.0, "every step committed")


def main() -> int:
    """Measure everything. Returns 1 when a bound is missed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="counted pairs per figure")
    options.add_argument("--store", action="store_true", help="also the store's figures (minutes)")
    chosen = options.parse_args()
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder, model_server() as url:
        forty_plugins(Path(folder) / "site")
        subprocess.run([PYTHON, "-m", "compileall", "-q", str(Path(folder) / "site")], check=True)
        home = Path(folder) / "home"
        home.mkdir()
        (home / "config.yaml").write_text(
            f"model: {{provider: custom, base_url: '{url}', api_key: x, default: echo}}\n"
        )
        env = {**os.environ, "HERMES_HOME": str(home), "HOME": folder, "PYTHONPATH": str(Path(folder) / "site")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for figure in figures(url, env, chosen.rounds):
            found.append(figure)
            mark = "kept  " if figure.kept else "MISSED"
            print(
                f"{mark}  {figure.name:<32} {figure.value:>10.2f}  bound {figure.bound:g}  ({figure.note})", flush=True
            )
    (HERE / "results.json").write_text(json.dumps([{**f._asdict(), "kept": f.kept} for f in found], indent=1) + "\n")
    if chosen.store:
        subprocess.run([PYTHON, str(HERE / "store.py")], check=True)
    return 0 if all(f.kept for f in found) else 1


if __name__ == "__main__":
    sys.exit(main())
