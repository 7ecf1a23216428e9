"""The emoji that Telegram takes as a reaction; others stand for the nearest of them."""

__all__ = ["reaction"]

_TAKEN = frozenset(
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 "
    "😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡".split()
)
_NEAREST = {
    **dict.fromkeys("✅✔☑🆗", "👌"),
    **dict.fromkeys("❌❎✖🚫⛔", "👎"),
    **dict.fromkeys("⏳⌛🕐🔄⚙📝", "✍"),
    **dict.fromkeys("⚠❗", "😨"),
    **dict.fromkeys("⏹🛑", "😐"),
    **{"❓": "🤔", "⏸": "😴", "👁": "👀", "🚀": "🔥", "⭐": "🤩", "😀": "😁", "😊": "🤗", "😂": "🤣", "🙂": "🤗"},
}


def reaction(sign: str) -> str:
    """The emoji to react with, or an empty string when there is none like it."""
    plain = sign.replace("\ufe0f", "").strip()
    return plain if plain in _TAKEN else _NEAREST.get(plain, "")
