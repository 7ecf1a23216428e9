"""How a bot is set up: its token, and whether Telegram knows it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.kinds import SetupField, SetupStep
from hermes_platform_telegram.api import BotApi
from hermes_platform_telegram.config import Config
from hermes_platform_telegram.failures import Lost, Refused, as_service

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["BotStep"]


def _token(text: str) -> str:
    good = re.fullmatch(r"\d{1,20}:[A-Za-z0-9_-]{8,}", text)
    return "" if good else "That is no token of a bot: @BotFather gives one like 123456789:AAF…"


class BotStep(SetupStep):
    """The token of a bot. Made at @BotFather with /newbot."""

    name = "telegram"
    fields = (SetupField("token", "Token of the bot", "TELEGRAM_BOT_TOKEN", secret=True, check=_token),)

    def __init__(self, config: Config, broker: "SecretsBroker") -> None:
        self._config, self._broker = config, broker

    async def test(self, values: Mapping[str, str]) -> str:
        """Ask Telegram who the bot is. Raises UserError for a wrong token, HermesError where nobody answers."""
        proxy = self._broker.get("TELEGRAM_PROXY").strip()
        api = BotApi(values["token"].strip(), self._config.base_url, proxy=proxy, seconds=self._config.seconds)
        try:
            return f"Telegram knows the bot as @{(await api.call('getMe'))['username']}."
        except (Refused, Lost) as error:
            raise as_service(error) from None
        except (KeyError, TypeError):
            text = f"What answers at {self._config.base_url} is no Bot API."
            raise UserError(text, hint="Check platforms.telegram.base_url.") from None
        finally:
            await api.close()
