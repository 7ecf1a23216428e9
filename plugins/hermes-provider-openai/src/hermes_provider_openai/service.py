"""Who is asked, as far as messages need to name it."""

from attrs import field, frozen

__all__ = ["Service"]


@frozen(kw_only=True)
class Service:
    """Who was asked: what messages need to name. The key is kept only to take it out of what is shown."""

    title: str
    url: str
    key: str = field(default="", repr=False)
    variables: tuple[str, ...] = ()
    signup: str = ""
    local: bool = False
    model: str = ""

    @property
    def key_hint(self) -> str:
        """What to do about a missing or wrong key."""
        where = f" (get one at {self.signup})" if self.signup else ""
        if self.key:
            places = "model.api_key or providers in config.yaml" + (
                f", or {self.variables[0]}" if self.variables else ""
            )
            return f"Change the key where it is set: {places}{where}."
        if self.variables:
            return f"Set {self.variables[0]} in the environment or in Hermes' .env file{where}."
        return f"Set api_key for it under providers in config.yaml{where}."
