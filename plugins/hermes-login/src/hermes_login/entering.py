"""A person logs in: with a code that they type into a page, or with a browser that comes back."""

import asyncio
import math
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlencode, urlsplit

from hermes_core.errors import Unavailable, UserError
from hermes_core.kinds import LoginPrompt
from hermes_core.types import JSON
from hermes_login.asking import ask, error_of
from hermes_login.service import LoginService
from hermes_login.tokens import Tokens, is_token, read_tokens
from hermes_provider_kit.login import Loopback, code_from, far_from_browser, proof_key

__all__ = ["log_in"]

Show = Callable[[LoginPrompt], Awaitable[str]]

_GRANT = "urn:ietf:params:oauth:grant-type:"
_USUAL, _SLOWER, _SLOWEST = 5.0, 5.0, 60.0  # seconds between questions; RFC 8628, 3.2 and 3.5
_LONGEST = 1800.0  # seconds that a code is waited for, whatever the service says
_CODE = re.compile(r"[0-9A-Za-z][0-9A-Za-z -]{2,31}")  # what a person can be asked to type


async def log_in(
    service: LoginService, show: Show, *, paste: bool = False, sleep: Callable[[float], Awaitable[None]] | None = None
) -> Tokens:
    """Have a person log in. Nothing is kept. A service that only lends what other programs have is not for this.

    Args:
        service: Where.
        show: Shows them what to do, and gives what they paste.
        paste: The browser is on another machine, whatever this one looks like.
        sleep: What waits between two questions, ``asyncio.sleep``.

    Raises:
        UserError: They did not, or said no.
        Unavailable: The service does not do as it should.
    """
    service.client()
    if service.flow == "device":
        return await _by_code(service, show, sleep or asyncio.sleep)
    return await _by_browser(service, show, paste=paste or far_from_browser())


async def _by_code(service: LoginService, show: Show, sleep: Callable[[float], Awaitable[None]]) -> Tokens:
    (verifier, challenge), state = proof_key(), secrets.token_urlsafe(32)
    own = service.dialect == "user_code"
    question = {"client_id": service.client_id, **service.extra}
    if service.scopes:
        question["scope"] = " ".join(service.scopes)
    if service.proof:
        question |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    if own:
        question["state"] = state
    begun = await _begun(service, question)
    interval, left = _paces(begun, own=own)
    text = "Open this page, log in, and type the code there and nowhere else. It is good for"
    code, page = str(begun["user_code"]), str(begun["verification_uri"])
    await show(LoginPrompt(f"{text} {math.ceil(left / 60)} min.", url=page, code=code))
    kind = "user_code" if own else "device_code"
    form = {**service.client(), kind: str(begun[kind]), "grant_type": f"{_GRANT}{kind}"}
    if service.proof:
        form["code_verifier"] = verifier
    return await _polled(service, form, (interval, left), sleep)


async def _polled(
    service: LoginService,
    form: Mapping[str, str],
    paces: tuple[float, float],
    sleep: Callable[[float], Awaitable[None]],
) -> Tokens:
    """Ask until the code was typed. Raises UserError where it was not, in time. ``paces`` are as ``_paces`` says."""
    interval, left = paces
    while left > 0:
        await sleep(interval)
        left -= interval
        try:
            answer = await ask(service.title, service.token_url, form)
        except Unavailable as error:
            if not error.transient:
                raise
            interval = min(interval * 2, _SLOWEST)  # RFC 8628, 3.5: back off when nobody answers
            continue
        word, said = error_of(answer)
        if service.dialect and not word:
            word = _in_words(answer[1])
        if not word:
            return read_tokens(answer[1], service)
        if word == "slow_down":
            interval = min(max(interval + _SLOWER, _seconds(answer[1].get("interval"), 0, _SLOWEST)), _SLOWEST)
        elif word == "access_denied":
            raise UserError(f"The login to {service.title} was refused on its page.", hint="Log in once more.")
        elif word == "expired_token":
            break
        elif word != "authorization_pending":
            raise UserError(f"{service.title} ended the login: {said}", hint="Log in once more.")
    raise UserError(f"Nobody typed the code of {service.title} in time.", hint="Log in once more.")


async def _begun(service: LoginService, question: Mapping[str, str]) -> Mapping[str, JSON]:
    """Ask for a code. Raises UserError, or Unavailable for an answer that a person must not be shown."""
    answer = await ask(service.title, service.device_url, question)
    word, said = error_of(answer)
    if word:
        raise UserError(f"{service.title} begins no login: {said}", hint="Try again later.")
    begun = answer[1]
    code, page = begun.get("user_code"), begun.get("verification_uri")
    held = code if service.dialect else begun.get("device_code")
    if not is_token(held) or not isinstance(code, str) or not _CODE.fullmatch(code):
        raise Unavailable(f"{service.title} sent no code to type.", transient=False)
    if not isinstance(page, str) or not _is_its_page(service, page):
        raise Unavailable(f"{service.title} names a page that is not its own.", transient=False)
    if "state" in question and begun.get("state") != question["state"]:
        raise Unavailable(f"{service.title} answered to another login.", transient=False)
    return begun


def _paces(begun: Mapping[str, JSON], *, own: bool) -> tuple[float, float]:
    """Return the seconds between two questions, and those that a code is good for."""
    if not own:
        return _seconds(begun.get("interval"), _USUAL, _SLOWEST), _seconds(begun.get("expires_in"), 900.0, _LONGEST)
    ends = _seconds(begun.get("expired_in"), 0, 1e14) / 1000
    left = ends - time.time()
    interval = _seconds(begun.get("interval"), _USUAL * 1000, _SLOWEST * 1000) / 1000
    return max(interval, 1.0), min(left, _LONGEST) if left > 0 else 900.0


def _in_words(reply: Mapping[str, JSON]) -> str:
    """Return what the dialect says in ``status``, in the words of RFC 8628; empty where there are tokens."""
    return {"success": "", "error": "access_denied"}.get(str(reply.get("status")), "authorization_pending")


async def _by_browser(service: LoginService, show: Show, *, paste: bool) -> Tokens:
    (verifier, challenge), state = proof_key(), secrets.token_urlsafe(32)

    def page(back: str) -> str:
        asked = {
            "response_type": "code",
            "client_id": service.client_id,
            "redirect_uri": back,
            "scope": " ".join(service.scopes),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **service.extra,
            "state": state,
        }
        return f"{service.authorize_url}?{urlencode(asked)}"

    if paste:
        back = f"http://localhost:{service.redirect_ports[0] or 1455}{service.redirect_path}"
        text = f"Log in on the page of {service.title}. The browser then fails to open an address that begins with"
        prompt = LoginPrompt(f"{text} {back}: paste that address.", url=page(back), paste=True)
        code = code_from(await show(prompt), service.title, state)
    else:
        ports, path = service.redirect_ports, service.redirect_path
        async with Loopback(service.title, path=path, ports=ports, state=state) as loopback:
            back = loopback.address
            await show(LoginPrompt(f"Log in on the page of {service.title}; this goes on by itself.", url=page(back)))
            code = await loopback.code()
    form = {
        "grant_type": "authorization_code",
        **service.client(),
        "code": code,
        "redirect_uri": back,
        "code_verifier": verifier,
    }
    answer = await ask(service.title, service.token_url, form)
    word, said = error_of(answer)
    if word:
        raise UserError(f"{service.title} gave no token for the code: {said}", hint="Log in once more.")
    return read_tokens(answer[1], service)


def _is_its_page(service: LoginService, page: str) -> bool:
    """Tell whether a page is on the host that was asked, or below it: nobody is sent elsewhere with a code."""
    parts, asked = urlsplit(page), urlsplit(service.device_url)
    host, own = parts.hostname or "", (asked.hostname or "").removeprefix("www.")
    plain = page.isascii() and page.isprintable() and " " not in page and "@" not in parts.netloc
    named = host == own or host.endswith(f".{own}") or host in service.pages
    return plain and parts.scheme == asked.scheme and named


def _seconds(value: JSON, usual: float, most: float) -> float:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return usual
    return min(float(value), most)
