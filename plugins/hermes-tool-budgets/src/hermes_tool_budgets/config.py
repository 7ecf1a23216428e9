"""The settings of the budgets, in the section ``budget``."""

from attrs.validators import optional

from hermes_core.options import ge, option, settings


@settings
class LimitSettings:
    """How much may be spent. It is looked at before each model call, which ends where the next would go beyond it."""

    calls: int = option("Model calls; 0: no limit.", default=0, validator=ge(0))
    tokens: int = option("Tokens in and out; 0: no limit.", default=0, validator=ge(0))
    money: float = option("US dollars, as far as prices are known; 0: no limit.", default=0.0, validator=ge(0))
    seconds: float = option("Seconds that turns take; 0: no limit.", default=0.0, validator=ge(0))


@settings
class TurnLimitSettings(LimitSettings):
    """How much one turn may spend."""

    calls: int | None = option(  # type: ignore[assignment]
        "Model calls; 0: no limit; empty: agent.max_calls.", default=None, validator=optional(ge(0))
    )


@settings
class Config:
    """How much may be spent, in all."""

    turn: TurnLimitSettings = option("By one turn.", factory=TurnLimitSettings)
    session: LimitSettings = option("By one session.", factory=LimitSettings)
    day: LimitSettings = option("By all your sessions, from midnight to midnight.", factory=LimitSettings)
