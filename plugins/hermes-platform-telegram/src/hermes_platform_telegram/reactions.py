"""The emoji that Telegram takes as a reaction; others stand for the nearest of them."""

__all__ = ["reaction"]

_ONE = "👍👎❤🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳🌚🌭💯🤣⚡🍌🏆💔🤨😐🍓🍾💋🖕😈😴"
_MORE = "😭🤓👻👀🎃🙈😇😨🤝✍🤗🫡🎅🎄☃💅🤪🗿🆒💘🙉🦄😘💊🙊😎👾🤷😡"
_JOINED = ("❤\u200d🔥", "👨\u200d💻", "🤷\u200d♂", "🤷\u200d♀")
_TAKEN = frozenset({*_ONE, *_MORE, *_JOINED})
_NEAREST = {
    near: taken
    for taken, signs in {
        "👌": "✅✔☑🆗",
        "👎": "❌❎✖🚫⛔",
        "✍": "⏳⌛🕐🔄⚙📝",
        "😨": "⚠❗",
        "😐": "⏹🛑",
        "🤔": "❓",
        "😴": "⏸",
        "👀": "👁",
        "🔥": "🚀",
        "🤩": "⭐",
        "😁": "😀",
        "🤗": "😊🙂",
        "🤣": "😂",
    }.items()
    for near in signs
}


def reaction(sign: str) -> str:
    """The emoji to react with, or an empty string when there is none like it."""
    plain = sign.replace("\ufe0f", "").strip()
    return plain if plain in _TAKEN else _NEAREST.get(plain, "")
