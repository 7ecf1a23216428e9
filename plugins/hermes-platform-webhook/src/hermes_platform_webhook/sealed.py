"""The secrets of subscriptions, sealed in the store: a subscription made while Hermes runs holds at once.

One key, a secret of Hermes like any other, seals them all with AES-256-GCM, each for the name of its subscription.
"""

import base64
import binascii
import secrets

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

__all__ = ["KEY", "make_key", "open_sealed", "seal"]

KEY = "WEBHOOK_KEY"
_NONCE = 12  # bytes


def make_key(ctx: PluginContext) -> bool:
    """Make the key where there is none; whether it was made now. Raises UserError where it cannot be kept."""
    if ctx.secrets.get(KEY):
        return False
    ctx.secrets.set(KEY, base64.b64encode(secrets.token_bytes(32)).decode())
    return True


def seal(ctx: PluginContext, name: str, secret: str) -> str:
    """Return the secret of a subscription as it is stored. Raises UserError."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE)
    return base64.b64encode(nonce + AESGCM(_key(ctx)).encrypt(nonce, secret.encode(), name.encode())).decode()


def open_sealed(ctx: PluginContext, name: str, sealed: str) -> str:
    """Return the secret of a subscription. Raises UserError where it was sealed with another key."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        whole = base64.b64decode(sealed, validate=True)
        return AESGCM(_key(ctx)).decrypt(whole[:_NONCE], whole[_NONCE:], name.encode()).decode()
    except (InvalidTag, binascii.Error, ValueError):
        text = f"The secret of the webhook {name} was sealed with another {KEY}."
        hint = f"Start again what serves it; else: {ctx.program} webhook subscribe {name} --new-secret"
        raise UserError(text, hint=hint) from None


def _key(ctx: PluginContext) -> bytes:
    try:
        key = base64.b64decode(ctx.secrets.get(KEY), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != 32:
        hint = "It is made by the first subscription. What was started before that is to be started again."
        raise UserError(f"{KEY} is not set, or is no key.", hint=hint)
    return key
