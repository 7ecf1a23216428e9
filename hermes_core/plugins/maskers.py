"""Who finds secrets in texts: the maskers of the enabled plugins, for a kernel, and for a command that starts none."""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from hermes_core.masking.watched import SLOW, Hung, Watched
from hermes_core.plugins.brokers import MakeBroker, make_context
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import Late, finished
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.loader import Loader

if TYPE_CHECKING:
    from hermes_core.config.settings import Settings

T = TypeVar("T")
_LONG, _OFTEN = 0.3, 3  # seconds for a text, and how often they are too many

__all__ = ["find_maskers", "loader_alone", "owners_of_maskers"]


def owners_of_maskers(index: Index, consent: Consent) -> Sequence[Installed]:
    """Return the plugins that were enabled and declare a masker; also one that asks for more now, off until agreed."""
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
        Watched(label, masker, dispatch.failed, *([] if label in ours else [_in_time(label, dispatch)]))
        for label, masker in given
    ]
    return [*found, *(Watched(label, None) for label in sorted(missing))]


def _in_time(label: str, dispatch: Dispatch) -> Callable[[Callable[[], T]], T]:
    """Return what asks a masker, in a thread of its own. Raises what it raises, Hung when it takes too long.

    One that makes everything wait again and again is told, and then is who held up what ends late.
    """
    slow = 0

    def ask(call: Callable[[], T]) -> T:
        nonlocal slow
        began = perf_counter()
        try:
            return finished(call, SLOW)
        except Late:
            raise Hung(f"gave no answer within {SLOW:g} s, so every text is hidden") from None
        finally:
            slow += (taken := perf_counter() - began) > _LONG
            if slow == _OFTEN and not dispatch.slow:
                dispatch.slow = label
                dispatch.failed(label, "spans", Late(f"takes {taken:.1f} s for a text, while everything waits"))

    return ask


def loader_alone(settings: "Settings", index: Index, consent: Consent, brokers: MakeBroker) -> tuple[Loader, Dispatch]:
    """Return what loads plugins where there is no kernel; ``brokers`` makes one, or says why there is none."""
    dispatch = Dispatch(masked=settings.masks.always)
    context = partial(make_context, settings=settings, brokers=brokers)
    markers = settings.home.cache / "crash_markers"
    return Loader(index, consent, dispatch, context=context, markers=markers), dispatch
