"""Where a message that nobody asked for goes: targets in a person's words, and the chats that they mean.

A target is ``origin`` (the chat that the session was last asked in), ``local`` (nowhere: it is kept here), ``all``
(home on every platform), ``PLATFORM`` (home there), ``PLATFORM:CHAT[:THREAD]``, or a chat's name. Ids are read by what
is known, never by counting colons: some services have them in their ids. Only chats of the person are ever meant.
"""

from collections.abc import Iterable, Sequence

from hermes_core.errors import UnknownName, UserError
from hermes_platform_gateway.rows.values import KnownChat

__all__ = ["ALL", "LOCAL", "ORIGIN", "home_of", "is_chats", "resolve"]

ORIGIN, LOCAL, ALL = "origin", "local", "all"
_HOME = "Say /sethome in a chat there, or name one."


def is_chats(target: str) -> bool:
    """Whether a word means chats, whatever else is called so."""
    return target.casefold() in (ORIGIN, LOCAL, ALL)


def resolve(
    target: str, known: Sequence[KnownChat], origin: KnownChat | None = None, also: Sequence[str] = ()
) -> list[KnownChat]:
    """The chats that a target means, of those a person has (last used first); none for ``local``.

    ``origin`` is the chat that asks; without one it is here. ``also`` are other names that there are. Raises
    UnknownName for what is no chat of theirs, and UserError when a name is not clear, or nothing can be delivered
    there.
    """
    words = " ".join(target.split())
    plain = words.casefold()
    if plain == LOCAL or (plain == ORIGIN and origin is None):
        return []
    if plain == ORIGIN:
        return [_living(origin)] if origin else []
    if plain == ALL:
        return _homes(known)
    if there := [chat for chat in known if chat.platform.casefold() == plain]:
        return [_living(home_of(words, there))]
    if named := _named(words, plain, known):
        return [_living(_one(words, named))]
    raise UnknownName("target", words, [*_names(known), *also], hint="A chat is known once you have written there.")


def home_of(platform: str, there: Sequence[KnownChat]) -> KnownChat:
    """Home among the chats of one platform: the one that was set, or the only one where nobody else reads.

    Raises UserError when there is none.
    """
    if homes := [chat for chat in there if chat.home]:
        return homes[0]
    private = [chat for chat in there if chat.kind == "dm" and not chat.thread]
    if len(private) == 1:
        return private[0]
    shown = ", ".join(chat.address for chat in there[:10])
    raise UserError(f"There is no home chat on {platform}.", hint=f"{_HOME} There is: {shown}")


def _homes(known: Sequence[KnownChat]) -> list[KnownChat]:
    """Home on every platform that has one where something can be delivered."""
    found = []
    for platform in dict.fromkeys(chat.platform for chat in known):
        try:
            found.append(_living(home_of(platform, [chat for chat in known if chat.platform == platform])))
        except UserError:
            continue  # "all" is all that can be reached
    if not found:
        raise UserError("There is no home chat on any platform.", hint=_HOME)
    return found


def _named(words: str, plain: str, known: Iterable[KnownChat]) -> list[KnownChat]:
    """The chats of an address; else those of a name, alone or after its platform."""
    known = list(known)
    if exact := [chat for chat in known if chat.address == words]:
        return exact[:1]  # two bots may know the same chat: the one it was last used with
    return [chat for chat in known if chat.name and plain in _spelled(chat)]


def _spelled(chat: KnownChat) -> tuple[str, ...]:
    name, platform = chat.name.casefold(), chat.platform.casefold()
    bare = name.lstrip("#@")
    return name, bare, f"#{bare}", f"@{bare}", f"{platform}:{name}", f"{platform}:{bare}"


def _one(words: str, named: Sequence[KnownChat]) -> KnownChat:
    """One chat; of several with a name the one that is no thread. Raises UserError when it is not clear."""
    addresses = {chat.address: chat for chat in reversed(named)}  # the last used one of an address wins
    whole = [chat for chat in addresses.values() if not chat.thread]
    if len(addresses) == 1 or len(whole) == 1:
        return (whole or list(addresses.values()))[0]
    shown = ", ".join(list(addresses)[::-1][:10])
    raise UserError(f"{words!r} could be {len(addresses)} chats.", hint=f"Say which: {shown}")


def _living(chat: KnownChat) -> KnownChat:
    if chat.dead:
        raise UserError(
            f"Nothing can be delivered to {chat.address}: {chat.dead}",
            hint="Write there again, and it can; or choose another target.",
        )
    return chat


def _names(known: Iterable[KnownChat]) -> list[str]:
    return [ALL, LOCAL, ORIGIN, *(chat.address for chat in known), *(chat.name for chat in known if chat.name)]
