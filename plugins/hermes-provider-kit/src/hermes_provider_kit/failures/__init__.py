"""What went wrong at a model service: from a status, a body and headers, in any dialect, to the one right error.

For authors of providers. ``failure`` reads an unsuccessful reply, ``broken_off`` an error inside a reply that began
well, ``unreadable`` a success that is none. The error's ``reason`` decides what is done: see ``errors.REASONS``.
Importing this costs nothing; patterns are compiled when something failed.
"""

from collections.abc import Mapping, Sequence

from attrs import field

from hermes_core.errors import ProviderError, Unavailable
from hermes_core.types.base import JSON
from hermes_core.values import frozen

__all__ = ["ANYONE", "Service", "broken_off", "failure", "message_of", "redact", "seconds_to_wait", "unreadable"]


@frozen(kw_only=True)
class Service:
    """Who was asked: what messages need to name. The key is kept only to take it out of what is shown.

    ``variables`` are the secrets that may hold its key; ``address_hint`` is what to do when nobody answers there.
    """

    title: str
    url: str = ""
    key: str = field(default="", repr=False)
    variables: tuple[str, ...] = ()
    signup: str = ""
    local: bool = False
    model: str = ""
    address_hint: str = ""

    @property
    def key_hint(self) -> str:
        """What to do about a missing or wrong key."""
        where = f" (get one at {self.signup})" if self.signup else ""
        if self.key:
            places = "model.api_key or providers in config.yaml"
            places += f", or {self.variables[0]}" if self.variables else ""
            return f"Change the key where it is set: {places}{where}."
        if self.variables:
            return f"Set {self.variables[0]} in the environment or in Hermes' .env file{where}."
        return f"Set api_key for it under providers in config.yaml{where}."

    @property
    def place_hint(self) -> str:
        """What to do when something else than the service answers."""
        return self.address_hint or f"Check base_url, now {self.place}."

    @property
    def place(self) -> str:
        """The address as it is shown: without a name and a password in it."""
        scheme, mark, rest = self.url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


ANYONE = Service(title="The provider")


def failure(
    status: int,
    body: str = "",
    headers: Mapping[str, str] = {},
    *,
    service: Service = ANYONE,
    models: Sequence[str] = (),
) -> ProviderError:
    """The error for an unsuccessful HTTP reply. ``models`` are names on offer, to help with an unknown one."""
    from hermes_provider_kit.failures.judge import judged

    said = redact(message_of(body), service.key)
    text = f"{service.title} answered {status}" + (f": {said}" if said else ".")
    lower = {name.lower(): value for name, value in headers.items()}
    if 300 <= status < 400:
        target = redact(lower.get("location", ""), service.key)[:200]
        text = f"{service.title} sent us elsewhere ({status} to {target or 'nowhere'})."
    return judged(status, body, lower, text, service, tuple(models))


def broken_off(error: JSON, *, service: Service = ANYONE) -> ProviderError:
    """The error for an error object inside a reply that began as a success."""
    import json

    from hermes_provider_kit.failures.judge import judged, status_in

    inner = error.get("error") if isinstance(error, Mapping) else None
    body = json.dumps({"error": inner if isinstance(inner, Mapping | str) and inner else error})
    said = redact(message_of(body), service.key) or "it says nothing more"
    text = f"{service.title} broke off with an error: {said}"
    return judged(status_in(body), body, {}, text, service, ())


def unreadable(body: str, *, service: Service = ANYONE) -> Unavailable:
    """The error for a success whose body is neither events nor JSON."""
    from hermes_provider_kit.failures.words import page_title

    if not body.strip():
        return Unavailable(f"{service.title} sent an empty body.", hint=service.place_hint)
    if (title := page_title(body)) is not None:
        shown = f" titled “{title}”" if title else ""
        text = f"{service.title} sent a web page{shown} instead of an answer."
        hint = f"{service.place_hint} A proxy or a login page may be in the way."
        return Unavailable(text, transient=False, hint=hint, reason="wrong_address")
    shown = redact(" ".join(body.split())[:200], service.key)
    return Unavailable(f"{service.title} sent something that is not JSON: {shown}", hint=service.place_hint)


def message_of(body: str) -> str:
    """The sentence for people in an error body of any dialect, short and on one line."""
    from hermes_provider_kit.failures.words import sentence_in

    return sentence_in(body)


def redact(text: str, key: str = "") -> str:
    """The text without the key and without what looks like one."""
    from hermes_provider_kit.failures.words import without_secrets

    return without_secrets(text, key)


def seconds_to_wait(headers: Mapping[str, str], body: str = "") -> float | None:
    """Seconds until asking again makes sense, or None when nothing says so. ``headers`` are in lower case."""
    from hermes_provider_kit.failures.waiting import wait_in

    return wait_in(headers, body)
