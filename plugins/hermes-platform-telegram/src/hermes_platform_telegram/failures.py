"""What can go wrong between us and Telegram, and what it means for a message that was to be sent."""

from hermes_core.errors import DeliveryError, HermesError, NotSent, Undeliverable, UserError

__all__ = ["WHERE_TOKEN", "Lost", "Refused", "as_delivery", "as_service"]

WHERE_TOKEN = "Get one from @BotFather and set it: hermes config set TELEGRAM_BOT_TOKEN"  # noqa: S105 - a hint


class Refused(Exception):
    """Telegram answered, and the answer is no. ``retry_after`` is in seconds, ``moved`` the new id of a chat."""

    def __init__(self, status: int, text: str, *, retry_after: float | None = None, moved: str = "") -> None:
        super().__init__(f"{status} {text}")
        self.status = status
        self.text = text
        self.retry_after = retry_after
        self.moved = moved

    def says(self, *words: str) -> bool:
        """Whether the description holds one of these words."""
        return any(word in self.text.lower() for word in words)


class Lost(Exception):
    """No answer that can be read. ``maybe``: Telegram may have done what it was asked to do all the same."""

    def __init__(self, text: str, *, maybe: bool) -> None:
        super().__init__(text)
        self.text = text
        self.maybe = maybe


def as_delivery(error: Refused | Lost) -> HermesError:
    """The error of a send or an edit."""
    if isinstance(error, Lost):
        return DeliveryError(error.text) if error.maybe else NotSent(error.text)
    if error.status == 429:
        return NotSent(f"Telegram wants a pause: {error.text}.", retry_after=error.retry_after)
    if error.status in (401, 404, 407, 409):  # not about this message: it can go out when that is mended
        return NotSent(f"Telegram does not take messages of this bot now: {error.text}.")
    if error.status == 403:
        return Undeliverable(f"The bot may not write there: {error.text}.")
    if 400 <= error.status < 500:
        return Undeliverable(f"Telegram refuses the message: {error.text}.")
    return DeliveryError(f"Telegram failed with status {error.status}: {error.text}.")


def as_service(error: Refused | Lost) -> HermesError:
    """The error of connecting and receiving: UserError for what only a person can mend."""
    if isinstance(error, Lost):
        return HermesError(error.text, hint="It is tried again.")
    if error.status == 429:
        return NotSent(f"Telegram wants a pause: {error.text}.", retry_after=error.retry_after)
    if error.status in (401, 404):
        return UserError("Telegram does not know the bot's token: it is wrong, or was revoked.", hint=WHERE_TOKEN)
    if error.status == 409 and error.says("webhook"):
        return UserError(
            "Something else has set a webhook for this bot, so messages cannot be polled.",
            hint="Stop the other program, or set platforms.telegram.webhook_url here; then start again.",
        )
    if error.status == 409:
        return UserError(
            "Another program asks Telegram for this bot's messages; only one may.",
            hint="Stop the other one, or give it a bot of its own (@BotFather, /newbot); then start again.",
        )
    if error.status == 400:
        return UserError(f"Telegram refuses how the bot is set up: {error.text}.", hint="See platforms.telegram.")
    return HermesError(f"Telegram answers with status {error.status}: {error.text}.", hint="It is tried again.")
