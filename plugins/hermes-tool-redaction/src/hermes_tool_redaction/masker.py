"""What the kernel asks: where secrets are in a text, whether a value is one, and who is spoken of."""

from collections.abc import Callable, Iterable

from hermes_core.kinds import Masker

__all__ = ["Secrets"]

Span = tuple[int, int, bool]


class Secrets(Masker):
    """Knows services' tokens, values behind the names of secrets, keys, headers, addresses with passwords."""

    name = "secrets"

    def spans(self, text: str) -> Iterable[Span]:
        """As the only piece of a text."""
        return self.follow()(text)

    def follow(self) -> Callable[[str], Iterable[Span]]:
        """A finder that remembers what the pieces before left open: a key, a name without its value, a full line."""
        from hermes_tool_redaction.find import Finder

        return Finder().spans

    def may_hold(self, text: str) -> bool:
        """Compile nothing for what is looked through faster without a pattern."""
        from hermes_tool_redaction.quick import may_hold

        return may_hold(text)

    def is_secret(self, value: str, name: str = "") -> bool:
        """By the name of its field, or because a token of a service is in it."""
        if name:
            from hermes_tool_redaction.named import is_named_secret

            return is_named_secret(name, value)
        if not self.may_hold(value):
            return False
        from hermes_tool_redaction.tokens import token_spans

        return bool(token_spans(value, 0))

    def people(self, text: str, name: Callable[[str, str], str]) -> str:
        """E-mail addresses, phones, and ids of people and chats."""
        from hermes_tool_redaction.people import named

        return named(text, name)
