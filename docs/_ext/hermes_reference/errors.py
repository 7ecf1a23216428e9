"""The page of the errors and the exit status."""

from hermes_core import errors
from hermes_provider_kit import failures
from hermes_reference.kinds import show_class, show_function
from hermes_reference.markdown import code, joined, table
from hermes_reference.source import class_node, doc, header

STATUS = {
    0: "Done.",
    1: "The work failed: the turn could not go on, a check found a fault, the system refused.",
    2: "You can fix it: a wrong option, setting or name.",
    3: "A plugin you named could not be used.",
    130: "Interrupted.",
}


def page() -> str:
    """The tree, each error, and the exit status."""
    tree = doc(errors).partition("::\n")[2]
    drawing = "\n".join(line[4:] for line in tree.splitlines() if line.startswith("    "))
    classes = [getattr(errors, n) for n in errors.__all__ if n not in ("nearest", "REASONS")]
    rows = [(code(c.__name__), code(c.__bases__[0].__name__), _made(c), doc(c)) for c in classes]
    return joined(
        "# Errors and exit status",
        "Messages say who, what and what now. Every error takes `hint=`: what to do now. Raise the one that fits; the "
        "kernel decides by its class what happens next.",
        f"```text\n{drawing}\n```",
        table(("error", "is a", "made with", "meaning"), rows),
        "## Reasons of a ProviderError",
        "`reason` says in one word why a model could not answer, and decides what is done about it.",
        table(("reason", "meaning"), [(code(name), text) for name, text in errors.REASONS.items()]),
        "## hermes_provider_kit.failures",
        doc(failures),
        *(show_function(failures, name) for name in failures.__all__ if name.islower()),
        show_class(failures.Service, "###"),
        "## Exit status",
        table(("status", "meaning"), [(str(n), text) for n, text in STATUS.items()]),
    )


def _made(cls: type) -> str:
    """The constructor that applies to a class."""
    for one in cls.__mro__:
        if one.__module__ != errors.__name__:
            break
        node, _ = class_node(one)
        for item in node.body:
            if getattr(item, "name", "") == "__init__":
                return code(" ".join(header(item, cls.__name__).split()))  # type: ignore[arg-type]
    return ""
