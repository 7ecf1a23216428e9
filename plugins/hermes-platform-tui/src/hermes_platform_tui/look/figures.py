"""Numbers as people read them in little room."""

__all__ = ["UNKNOWN_COST", "money", "percent", "span", "tokens"]

UNKNOWN_COST = "$?"

_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def tokens(count: float) -> str:
    """A count in at most five cells: ``950``, ``1.2k``, ``45k``, ``1.3M``."""
    if count < 0:
        return "-" + tokens(-count)
    for size, letter in _STEPS:
        # 999,600 is 1M and not 1000k.
        if count >= size * 0.9995 or (letter == "k" and count >= 999.5):
            part = count / size
            return f"{part:.1f}".removesuffix(".0") + letter if part < 99.95 else f"{part:.0f}{letter}"
    return f"{count:.0f}"


def money(amount: float, priced: str = "actual") -> str:
    """Dollars: ``$0.42``, ``~$0.42`` when estimated; what nobody knows is never shown as nothing."""
    if not priced:
        return UNKNOWN_COST
    mark = "~" if priced == "estimated" else ""
    if 0 < amount < 0.01:
        return f"{mark}<$0.01"
    return f"{mark}${amount:,.2f}" if amount < 1000 else f"{mark}${amount:,.0f}"


def percent(share: float) -> str:
    """A share of 1 in whole percents, where 0 % and 100 % mean exactly that."""
    whole = round(share * 100)
    if whole == 0 and share > 0:
        return "<1%"
    if whole == 100 and share < 1:
        return "99%"
    return f"{whole}%"


def span(seconds: float) -> str:
    """A time that passes: ``8s``, ``1m05s``, ``2h03m``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
