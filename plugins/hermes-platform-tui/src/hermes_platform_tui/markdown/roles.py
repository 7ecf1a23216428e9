"""How each part of a text looks, in the colours of the theme that is shown.

They are a table and no component classes: Textual keeps a set of styles for each of these in every widget, and a
conversation has many.
"""

__all__ = ["ROLES"]

ROLES: dict[str, str] = {
    "strong": "bold",
    "code-strong": "bold",
    "em": "italic",
    "code-em": "italic",
    "strike": "strike",
    "code": "$text-accent on $foreground 8%",
    "link": "underline $text-primary",
    "address": "$text-muted",
    "image": "$text-secondary",
    "maths": "$text-secondary",
    "muted": "$text-muted",
    "bullet": "$text-primary",
    "done": "$text-success",
    "bar": "$text-primary",
    "quote": "$text-muted",
    "rule": "$foreground 35%",
    "border": "$foreground 35%",
    "head": "bold",
    "block": "$foreground on $foreground 5%",
    "label": "italic $text-muted",
    "heading-1": "bold underline $text-primary",
    "heading-2": "bold $text-primary",
    "heading-3": "bold italic",
    "heading-4": "italic",
    "heading-5": "italic $text-muted",
    "heading-6": "$text-muted",
    "code-comment": "italic $text-muted",
    "code-keyword": "$text-accent",
    "code-string": "$text-success",
    "code-number": "$text-warning",
    "code-name": "$text-primary",
    "code-builtin": "$text-secondary",
    "code-inserted": "$text-success",
    "code-deleted": "$text-error",
    "hit": "$text-warning on $warning-muted",
    "current": "bold underline $background on $warning",
}
"""Role -> style, as ``textual.style.Style.parse`` reads it."""
