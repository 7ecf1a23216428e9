"""Pages of the rest of the public library: the context, embedding, what tests are written with."""

import importlib
import inspect

import attrs

import hermes_agent
from hermes_agent import flow_run, flows
from hermes_autorun import autorun
from hermes_closed import closed
from hermes_core import (
    brokers,
    codec,
    context,
    control,
    database,
    distribution,
    embed,
    host,
    options,
    patterns,
    product,
    slash,
    testing,
    values,
)
from hermes_core import permissions as marks
from hermes_core.testing import pytest_plugin
from hermes_paths import places
from hermes_reference.kinds import show_class, show_function
from hermes_reference.markdown import code, joined, table
from hermes_reference.source import doc, tree_of
from hermes_tool_kit import addresses, fetching, injection

KIT = "Contract"


def context_page() -> str:
    """What a plugin is handed, and how options are declared."""
    public = [getattr(module, name) for module in (context, brokers, control) for name in module.__all__]
    shown = [show_class(one) for one in public if inspect.isclass(one)]
    permissions = "\n".join(f"- `{name}`" for name in context.KERNEL_PERMISSIONS)
    return joined(
        "# Context and options",
        doc(context),
        *shown,
        "## KERNEL_PERMISSIONS",
        "The names that `[permissions] kernel` may list:",
        permissions,
        "Each method says above what it needs: it, or its class, is marked with `hermes_core.permissions`.",
        *(show_function(marks, name) for name in ("needs", "free", "needed")),
        show_class(marks.Need, "###"),
        "## Options",
        doc(options).split("\n\n")[0],
        show_function(options, "settings"),
        show_function(options, "option"),
        show_class(options.Secret, "###"),
        "### Validators",
        f"From attrs: {', '.join(code(n) for n in _validators())}. A list of validators is allowed.",
        "## hermes_core.values",
        doc(values),
        "`frozen` and `define` take what `attrs.frozen` and `attrs.define` take.",
        "## hermes_core.patterns",
        doc(patterns),
        "`pattern(source, flags)` takes what `re.compile` takes, and has its methods.",
    )


def host_page() -> str:
    """What a host is given: who hears people somewhere, and has Hermes answer them."""
    hosted = (host.HostBroker, host.HostTurns, host.Reach, host.HostRecords, host.HostedService)
    commands = (slash.SlashBroker, slash.SlashCommands, slash.HostSide)
    return joined(
        "# Hosts",
        "How to use it: {doc}`../how-to/host`.",
        doc(host).partition(" What becomes")[0],
        *(show_class(one) for one in hosted),
        "## hermes_core.slash",
        doc(slash),
        *(show_class(one, "###") for one in commands),
        *(show_function(slash, name) for name in ("may_use", "usable", "named")),
    )


def tables_page() -> str:
    """What tables of a plugin's own are used with."""
    return joined(
        "# Tables",
        "How to use it: {doc}`../how-to/tables`. All of these come from `hermes_core.database`.",
        *(show_class(one) for one in (database.StoreBroker, database.TablesTransaction, database.Changed)),
        show_function(database, "made", "##"),
        "## hermes_core.codec",
        doc(codec),
        *(show_function(codec, name) for name in codec.__all__ if inspect.isfunction(getattr(codec, name))),
    )


def _validators() -> list[str]:
    return [n for n in options.__all__ if hasattr(attrs.validators, n)]


def reach_page() -> str:
    """Opening what a model names: URLs, paths."""
    return joined(
        "# URLs and paths",
        "How to use it: {doc}`../how-to/reach`. What a rule forbids raises `OutOfReach`, which is a `ToolError`.",
        "## hermes_tool_kit.fetching",
        doc(fetching),
        show_function(fetching, "fetch"),
        show_class(fetching.Fetched, "###"),
        "## hermes_tool_kit.addresses",
        doc(addresses),
        show_class(addresses.CheckedUrl, "###"),
        *(show_function(addresses, name) for name in ("check_url", "resolve", "refused_address")),
        "## hermes_paths.places",
        doc(places),
        show_class(places.PathRules, "###"),
        *(show_function(places, n) for n in ("spell", "check_path", "open_path", "open_parent")),
        "## hermes_closed.closed",
        doc(closed),
        *(show_class(cls, "###") for cls in (closed.Closed, closed.Opened)),
        "`closed(paths)` and `opened(folders)` make one of them, or give the one that was made before.",
        *(show_function(closed, n) for n in ("closed_but", "guarded_by", "vital_place", "expanded")),
        "## hermes_tool_kit.injection",
        doc(injection),
        show_function(injection, "scan"),
        "## hermes_autorun.autorun",
        doc(autorun),
        show_function(autorun, "runs_by_itself"),
    )


def embedding_page() -> str:
    """Agent, Hermes, Distribution."""
    return joined(
        "# Embedding",
        "How to use it: {doc}`../how-to/embedding`. `Agent` comes from `hermes_agent`, all others from "
        "`hermes_core.embed`; `Agent`, `Hermes` and `Distribution` from `hermes_core` too.",
        show_class(hermes_agent.Agent),
        *(show_class(getattr(embed, n)) for n in ("Hermes", "Answer", "Distribution")),
        show_class(product.Product),
        show_function(product, "Allow", "##"),
        "## HERMES",
        "The distribution behind the `hermes` command. Its own plugins:",
        "\n".join(f"- `{name}`" for name in distribution.HERMES.own),
        "## hermes_agent.flows",
        *(show_function(flows, n) for n in ("ask", "do", "sequence", "parallel", "each", "branch", "loop", "run")),
        show_class(flow_run.Done, "###"),
    )


def testing_page() -> str:
    """Fakes, fixtures and the rest of hermes_core.testing."""
    names = [n for n in testing.__all__ if not n.endswith(KIT)]
    parts = ["# Testing", doc(testing), "The contract classes have a page of their own: {doc}`contract-tests`."]
    parts += ["## Fixtures", "pytest finds them when hermes-core is installed.", _fixtures()]
    for name in names:
        thing = getattr(testing, name)
        home = importlib.import_module(thing.__module__)
        parts.append(show_class(thing) if inspect.isclass(thing) else show_function(home, name, "##"))
    return joined(*parts)


def _fixtures() -> str:
    tree, _ = tree_of(pytest_plugin)
    rows = []
    for node in tree.body:
        marks = [n.id if hasattr(n, "id") else getattr(n, "attr", "") for n in getattr(node, "decorator_list", ())]
        if {"fixture", "_async_fixture"} & set(marks):
            rows.append((code(node.name), doc(node)))  # type: ignore[attr-defined]
    return table(("fixture", "what it gives"), rows)
