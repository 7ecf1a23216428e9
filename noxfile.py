"""Sessions of the project. Plugins are found by globbing: adding one edits nothing here."""

import os
import random
import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["lint", "types", "contracts", "tests"]
nox.options.error_on_missing_interpreters = bool(os.environ.get("CI"))
PYTHONS = ["3.11", "3.12", "3.13"]
PLUGINS = sorted(p.parent.name for p in Path("plugins").glob("*/pyproject.toml"))


def _sync(session: nox.Session, *groups: str) -> None:
    """Install the workspace and the wanted groups from the lock into the session's environment."""
    wanted = [word for group in groups for word in ("--group", group)]
    session.run_install(
        "uv", "sync", "--locked", "--all-packages", "--all-extras", *wanted,
        f"--python={session.virtualenv.location}",
        env={"UV_PROJECT_ENVIRONMENT": session.virtualenv.location},
        silent=True,
    )  # fmt: skip


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests but the real ones; arguments go to pytest. In CI, those of the kernel's rooms.

    The README's command plays all of them there, on the oldest Python, and what is long is played on the newest.
    """
    _sync(session)
    chosen = ["-m", "not real"]
    if os.environ.get("CI"):
        rooms = ("agent", "config", "embed", "plugins", "store", "testing")
        chosen = ["--commits", "50", "--seeds", "2", *(f"tests/{room}" for room in rooms)]
    session.run("pytest", *(session.posargs or ["-n", "auto", *chosen]))


@nox.session(python=PYTHONS[0])
def crash(session: nox.Session) -> None:
    """Kill tests; `nox -s crash -- --rounds 200` is the long run."""
    _sync(session)
    session.run("pytest", "tests/crash", "-n", "auto", "-m", "not real", *session.posargs)


@nox.session(python=PYTHONS[0])
def delivery(session: nox.Session) -> None:
    """Services that fail, and deaths on the way of a message; `nox -s delivery -- --seeds 200` is the long run."""
    _sync(session)
    session.run(
        "pytest",
        "plugins/hermes-platform-gateway/tests/delivery",
        "-n",
        "auto",
        "-m",
        "not real",
        *(session.posargs or ["--seeds", "50"]),
    )


@nox.session(python=PYTHONS[0])
def word(session: nox.Session) -> None:
    """What is promised, tried from outside; `nox -s word -- --kills 300 --messages 2000 --flips 720` is the long run.

    It takes an hour. Kills are those of one kind of interface, messages those on one kind of service.
    """
    _sync(session)
    told = session.posargs or ["--kills", "60", "--messages", "200", "--flips", "120"]
    session.run("pytest", "tests/word", "-m", "not real", "-o", "faulthandler_timeout=0", "-s", *told)


@nox.session(python=PYTHONS[0])
def people(session: nox.Session) -> None:
    """Several people on one Hermes; ``nox -s people -- --talks 2000 --attempts 0 -n 2`` is the long run.

    Talks are conversations that are played alone and among eight people, in one process; pairs the same for two, over
    processes, which takes ten seconds each; attempts what people try on each other. ``--first 17`` begins with that
    seed. Talks that were judged are kept in ``.people/``, so a run that was ended goes on; other code begins anew.
    """
    _sync(session)
    told = session.posargs or ["--pairs", "20", "--talks", "400", "--attempts", "0"]
    kept = ["--kept", ".people/judged"]
    session.run("pytest", "tests/people", "-m", "not real", "-o", "faulthandler_timeout=0", *kept, *told)


@nox.session(python=PYTHONS[0])
def hostile(session: nox.Session) -> None:
    """Spoiled replies, odd text, secrets, soaking; `nox -s hostile -- --cases 10000` is the long run."""
    _sync(session)
    session.run("pytest", "tests/hostile", "-n", "auto", "-m", "not real", *session.posargs)


@nox.session(name="property", python=PYTHONS[0])
def fresh_examples(session: nox.Session) -> None:
    """Property tests with fresh seeds and more examples; `nox -s property -- 20` takes twenty seeds, one after another.

    What fails is told with its seed and its example: make that an `@example` of the test.
    """
    _sync(session)
    rounds, *more = session.posargs or ["5"]
    for _ in range(int(rounds)):
        seed = str(random.randrange(2**32))  # noqa: S311 - no secret
        session.log(f"seed {seed}")
        session.run(
            "pytest", "-n", "auto", "-m", "hypothesis and not real", "--hypothesis-profile", "fresh",
            "--hypothesis-seed", seed, *more,
        )  # fmt: skip


@nox.session(python=PYTHONS[0])
def real(session: nox.Session) -> None:
    """Tests against real counterparts (sshd, tmux …); one that is skipped in CI fails."""
    _sync(session)
    session.run("pytest", "-m", "real", *session.posargs)


@nox.session(python=PYTHONS[-1])
def mutation(session: nox.Session) -> None:
    """Small mistakes in what must not break, which tests must notice: a table by room, and what survived. Not in CI.

    ``nox -s mutation -- --room policy --sample 60 --seed 1`` is quick; all of every room takes hours. Kills are kept in
    ``.mutation/``, so a run that was ended goes on. What cannot be seen is in ``tests/mutation/equivalent.toml``.
    """
    _sync(session)
    session.run("python", "tests/mutation/run.py", *session.posargs)


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Style and common mistakes."""
    _sync(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=PYTHONS[0])
def types(session: nox.Session) -> None:
    """Strict types over the kernel and every plugin."""
    _sync(session)
    session.run("mypy", "hermes_core", *(f"plugins/{name}/src" for name in PLUGINS))


@nox.session(python=PYTHONS[0])
def contracts(session: nox.Session) -> None:
    """Which room may import which."""
    _sync(session)
    session.run("python", "tests/house/import_contracts.py")


@nox.session(python=PYTHONS[0])
def houserules(session: nox.Session) -> None:
    """The rules over the whole repository: size, import hygiene, manifests, the quality scale."""
    _sync(session)
    session.run("pytest", "tests/house", *session.posargs)


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """The documentation, without a warning."""
    _sync(session, "docs")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html")


@nox.session(python=PYTHONS[0])
def bench(session: nox.Session) -> None:
    """Speed against named baselines in the same run; prints a table, writes benchmarks/results.json."""
    _sync(session)
    session.run("python", "benchmarks/run.py", *session.posargs)
    session.run("python", "benchmarks/journaling.py")
    session.run("python", "benchmarks/walls.py")
    session.run("python", "benchmarks/proxy.py")
    session.run("python", "benchmarks/fairness.py")
    session.run("python", "benchmarks/schedules.py")


@nox.session(python=PYTHONS[0])
def soak(session: nox.Session) -> None:
    """10,000 turns in one process, then 3,000 in one gateway; writes benchmarks/soak.svg. Takes some minutes."""
    _sync(session)
    session.run("python", "benchmarks/soak.py", *session.posargs)
    if not session.posargs:
        session.run("python", "benchmarks/soak_gateway.py")


@nox.session(python=PYTHONS[0])
def cold_start(session: nox.Session) -> None:
    """Milliseconds and modules per command; informational."""
    _sync(session)
    session.run("python", "benchmarks/cold_start.py")


if __name__ == "__main__":
    sys.exit("Run `nox`, or `uv run nox -s SESSION`.")
