"""Who finds secrets in texts: the maskers of the enabled plugins, for a kernel, and for a command that starts none."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.masking.watched import SLOW, Hung, Watched
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import Late, finished
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.loader import Loader

if TYPE_CHECKING:
    from hermes_core.config.settings import Settings

T = TypeVar("T")

__all__ = ["find_maskers", "loader_alone", "owners_of_maskers"]


def owners_of_maskers(index: Index, consent: Consent) -> Sequence[Installed]:
    """The plugins that were enabled and declare a masker; also one that asks for more now, and is off until agreed."""
    declared = (plugin for plugin in index.plugins if plugin.manifest and plugin.manifest.contributes["maskers"])
    return [one for one in declared if (state := consent.state(one)).usable or state == "changed"]


def find_maskers(index: Index, consent: Consent, loader: Loader, dispatch: Dispatch) -> Sequence[Watched]:
    """Load what declares maskers, and ask it for them. An owner that gives none stands in the row with nothing."""
    owners = owners_of_maskers(index, consent)
    for one in owners:
        loader.load(one)
    given = dispatch.contributions("register_maskers")
    missing = {one.label for one in owners} - {label for label, _ in given}
    ours = {one.label for one in owners if consent.builtin(one)}
    found = [
        Watched(label, masker, dispatch.failed) if label in ours else Watched(label, masker, dispatch.failed, _in_time)
        for label, masker in given
    ]
    return [*found, *(Watched(label, None) for label in sorted(missing))]


def _in_time(call: Callable[[], T]) -> T:
    """What a masker answers, in a thread of its own. Raises what it raises, Hung when it takes too long."""
    try:
        return finished(call, SLOW)
    except Late as late:
        raise Hung(late.text) from late


def loader_alone(settings: "Settings", index: Index, consent: Consent) -> tuple[Loader, Dispatch]:
    """What loads plugins where there is no kernel: they reach neither the store nor a model there."""
    dispatch = Dispatch(masked=settings.masks.always)

    def context(installed: Installed) -> PluginContext:
        return make_context(installed, settings, store=_nothing, complete=_nothing)

    return Loader(index, consent, dispatch, context=context, markers=settings.home.cache / "crash_markers"), dispatch


async def _nothing(*_: object) -> NoReturn:
    raise UserError("Nothing is kept, and no model answers, where a text is only masked.")
