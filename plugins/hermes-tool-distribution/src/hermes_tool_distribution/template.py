"""The package of a new product, as texts: what a person edits is one file."""

from collections.abc import Mapping

__all__ = ["texts"]

_PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1"
description = "{title}, on Hermes."
requires-python = ">=3.11"
dependencies = [
    "hermes-core[standard]>=1.0,<2",
    "hermes-distribution>=1.0,<2",
]

[project.scripts]
{name} = "{package}:main"

[tool.hatch.build.targets.wheel]
packages = ["src/{package}"]
"""

_PROGRAM = '''\
"""{title}: what it is stands in hermes-distribution.toml."""

from hermes_distribution import program

main = program(__file__)
'''

_FILE = """\
name = "{name}"      # the command, the folder ~/.{name}, {prefix}_HOME and {prefix}_YOLO
title = "{title}"

# Distributions whose plugins may be used, by name or pattern. A person cannot add to these.
plugins = ["hermes-*", "{name}-*"]
own = ["hermes-*"]     # enabled without being asked about; a person may disable them
builtin = ["{name}-*"]   # enabled, and cannot be disabled
user_plugins = false   # no plugin files of the person's own

# Its commands: by their words, the first of them, or a pattern.
verbs = [
    "chat", "config", "doctor", "help", "model", "plugins list", "sessions", "setup", "tools", "distribution update",
]

# What commands may reach, kept by the wall of the system: nothing; or these hosts, the registries of packages and the
# remotes of a repository.
# network = false
# hosts = ["api.example.org"]

# Where `{name} distribution update` gets it: a package's name on the index, or a repository. Without, from nowhere.
# source = "git+https://git.example.org/{name}.git"

[defaults]             # a person may change these
memory.provider = ""

[locked]               # and not these
policy.mode = "ask"
"""

_README = """\
# {title}

A product on Hermes. What it is stands in `src/{package}/hermes-distribution.toml`. What lies in `src/{package}/files/`
is brought into the home of whoever runs it, and never over what they edited.

    pip install -e .
    {name} setup
    {name}

Check the file with `hermes distribution check src/{package}/hermes-distribution.toml`.
"""

_SOUL = """\
You are {title}. You are direct and accurate, and you say what you do not know.
"""


def texts(name: str, title: str) -> Mapping[str, str]:
    """Return the files of a product's package, by where they lie in its folder."""
    package = name.replace("-", "_")
    said = {"name": name, "title": title, "package": package, "prefix": package.upper()}
    return {
        "pyproject.toml": _PYPROJECT.format(**said),
        "README.md": _README.format(**said),
        f"src/{package}/__init__.py": _PROGRAM.format(**said),
        f"src/{package}/hermes-distribution.toml": _FILE.format(**said),
        f"src/{package}/files/SOUL.md": _SOUL.format(**said),
    }
