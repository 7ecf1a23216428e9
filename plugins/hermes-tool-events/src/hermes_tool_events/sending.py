"""The ways out: a signed webhook, a topic of ntfy, a mail, the desktop. Each raises where it was not taken."""

import asyncio
import base64
import binascii
import hmac
import json
import time
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, OutOfReach, ToolError, UserError
from hermes_tool_events.config import MailSettings, TargetSettings
from hermes_tool_events.values import MESSAGE, Told

__all__ = ["GaveUp", "in_words", "send", "signed"]

_SECONDS = 20.0
_ANSWER = 10_000  # bytes of an answer that are read
_PREFIX = "whsec_"


class GaveUp(UserError):
    """It is not wanted there, or can never be sent: to try again is of no use."""


async def send(ctx: PluginContext, target: TargetSettings, mail: MailSettings, one: Told) -> None:
    """Tell a target. Raises HermesError with what is wrong, GaveUp where it would be wrong again."""
    if target.kind == "desktop":
        await _desktop(one)
        return
    if not target.to:
        raise GaveUp("It is not said where it goes.", hint=f"tools.events.targets.{one.target}.to")
    if target.kind == "email":
        await asyncio.to_thread(_mail, ctx, target, mail, one)
    else:
        await _post(ctx, target, one)


async def _desktop(one: Told) -> None:
    from hermes_tool_events.desktop import absent, show

    if why := absent():
        raise GaveUp(f"There is no desktop: {why}.")
    title, words = in_words(one)
    try:
        await show(title, words, urgent=one.name == "question.asked")
    except FileNotFoundError as error:
        hint = "apt install libnotify-bin" if error.args[0] == "notify-send" else ""
        raise GaveUp(f"There is no {error.args[0]} here, which shows notices.", hint=hint) from error


async def _post(ctx: PluginContext, target: TargetSettings, one: Told) -> None:
    from hermes_tool_kit.fetching import Order, fetch

    secret = ctx.secrets.resolve(target.secret) if target.secret else ""
    if target.kind == "webhook":
        body = one.body.encode()
        headers = {"Content-Type": "application/json", **signed(secret, one.event, body, time.time())}
    else:
        title, words = in_words(one)
        body = words.encode()
        headers = {"Title": _in_header(title), "Content-Type": "text/plain; charset=utf-8"}
        headers |= {"Markdown": "yes"} if one.name == MESSAGE else {}
        headers |= {"Authorization": f"Bearer {secret}"} if secret else {}
    rules = ctx.urls._replace(allow_private=target.private, is_secret=None)
    try:
        order = Order(method="POST", headers=headers, body=body)
        answer = await fetch(target.to, rules, order=order, limit=_ANSWER, seconds=_SECONDS)
    except OutOfReach as error:
        raise GaveUp(error.text, hint=f"tools.events.targets.{one.target}.private") from error
    except ToolError as error:
        raise UserError(error.text) from error
    if answer.moved:
        raise UserError(f"It leads elsewhere, to {answer.moved[:200]}.")
    if answer.status == 410:
        raise GaveUp("It is gone (410).")
    if not 200 <= answer.status < 300:
        raise UserError(f"It answered with {answer.status}.")


def signed(secret: str, event: str, body: bytes, now: float) -> Mapping[str, str]:
    """Return the headers of Standard Webhooks. Raises GaveUp where the secret is none."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < 24:
        raise GaveUp(
            "Its secret is missing, or is none.", hint="whsec_ and 24 bytes or more in base64: openssl rand -base64 32"
        )
    stamp = str(int(now))
    made = hmac.digest(key, b".".join((event.encode(), stamp.encode(), body)), "sha256")
    signature = f"v1,{base64.b64encode(made).decode()}"
    return {"webhook-id": event, "webhook-timestamp": stamp, "webhook-signature": signature}


def _in_header(title: str) -> str:
    """Return a title as a header may hold it: what is not ASCII after RFC 2047."""
    return title if title.isascii() else f"=?UTF-8?B?{base64.b64encode(title.encode()).decode()}?="


def in_words(one: Told) -> tuple[str, str]:
    """Return what happened as a person reads it: a title on one line, and more."""
    happened = json.loads(one.body)
    data: Mapping[str, Any] = happened["data"]
    if title := " ".join("".join(c if c.isprintable() else " " for c in str(data.get("title", ""))).split())[:100]:
        return title, str(data.get("text", "") or _about(data))
    titles = {
        "turn.done": "Hermes is done",
        "turn.failed": "Hermes failed",
        "turn.interrupted": "Hermes was stopped",
        "question.asked": "Hermes asks",
        "test": "Hermes: a test",
    }
    lines = [str(data.get(name, "")) for name in ("subject", "risk", "error", "answer")]
    return titles.get(one.name, one.name), "\n".join([*filter(None, lines), _about(data)])


def _about(data: Mapping[str, Any]) -> str:
    words = [f"Session {data['session']}" if data.get("session") else "", str(data.get("origin") or "")]
    return ", ".join(filter(None, words))


def _mail(ctx: PluginContext, target: TargetSettings, mail: MailSettings, one: Told) -> None:
    import smtplib
    import ssl
    from email.utils import formatdate

    if not mail.host:
        raise GaveUp("No server is set that takes mails.", hint="tools.events.mail.host")
    if mail.security == "none" and mail.user:
        raise GaveUp("A password is not sent in the clear.", hint="tools.events.mail.security")
    title, words = in_words(one)
    message = EmailMessage()
    sender = mail.sender or mail.user or "hermes@localhost"
    try:
        message["From"], message["To"], message["Subject"] = sender, target.to, title
        message["Message-ID"] = f"<{_short(one.event)}@hermes.invalid>"
        message["Auto-Submitted"] = "auto-generated"
        message["Date"] = formatdate()
        message.set_content(words)
        secure = ssl.create_default_context()
        made: smtplib.SMTP = (
            smtplib.SMTP_SSL(mail.host, mail.port, timeout=_SECONDS, context=secure)
            if mail.security == "tls"
            else smtplib.SMTP(mail.host, mail.port, timeout=_SECONDS)
        )
        with made as server:
            if mail.security == "starttls":
                server.starttls(context=secure)
            if mail.user:
                server.login(mail.user, ctx.secrets.resolve(mail.password))
            server.send_message(message)
    except HermesError:
        raise
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise UserError(f"{mail.host} did not take it: {' '.join(str(error).split())[:200]}") from error


def _short(event: str) -> str:
    return event.removeprefix("evt_")[:32]
