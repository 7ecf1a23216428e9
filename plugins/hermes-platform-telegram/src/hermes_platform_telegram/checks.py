"""What doctor can find out about the bot."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.types import Check, Finding
from hermes_platform_telegram.config import Config
from hermes_platform_telegram.failures import Lost, Refused, as_service
from hermes_platform_telegram.platform import connect

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["check_bot"]


def check_bot(config: Config, broker: "SecretsBroker") -> Check:
    """Does Telegram know the bot, and can it hear what it is said?"""

    async def run() -> Sequence[Finding]:
        if not broker.get("TELEGRAM_BOT_TOKEN").strip():
            return [Finding(level="ok", text="No Telegram bot is set up (TELEGRAM_BOT_TOKEN is not set).")]
        try:
            api = connect(config, broker)
        except UserError as error:
            return [Finding(level="fault", text=error.text, fix=error.hint)]
        try:
            me = await api.call("getMe")
            webhook = await api.call("getWebhookInfo")
            return _findings(config, me, webhook)
        except (Refused, Lost) as error:
            told = as_service(error)
            level = "fault" if isinstance(told, UserError) else "warning"
            return [Finding(level=level, text=told.text, fix=told.hint)]  # type: ignore[arg-type] # one of the two
        except (KeyError, TypeError, AttributeError):
            return [
                Finding(level="fault", text=f"What answers at {config.base_url} is no Bot API.", fix="Check base_url.")
            ]
        finally:
            await api.close()

    return Check(name="telegram", run=run)


def _findings(config: Config, me: dict[str, object], webhook: dict[str, object]) -> Sequence[Finding]:
    found = [Finding(level="ok", text=f"Telegram knows the bot as @{me['username']}.")]
    if not me.get("can_read_all_group_messages"):
        found.append(
            Finding(
                level="ok",
                text="In groups the bot hears only what speaks to it (privacy mode).",
                fix="To let it hear all: @BotFather, /setprivacy, Disable; then take it out of the group and in again.",
            )
        )
    there, wanted = str(webhook.get("url") or ""), config.webhook_url
    if there and not wanted:
        found.append(
            Finding(level="warning", text="A webhook is set for the bot; the gateway takes it away when it starts.")
        )
    if error := webhook.get("last_error_message"):
        fix = "Check that webhook_url leads to webhook_host:webhook_port here, with a valid certificate."
        found.append(Finding(level="warning", text=f"Telegram could not reach the webhook: {error}.", fix=fix))
    return found
