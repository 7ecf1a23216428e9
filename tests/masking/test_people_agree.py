"""What redaction hides of people in logs, and what the router keeps from hosted models, is found by the same forms.

Two plugins of different kinds share no library, so this holds them equal.
"""

import pytest

from hermes_provider_router.people import people
from hermes_tool_redaction.people import named

TEXTS = [
    "ann.lee+x@example.org",
    "mail <Bob@Corp.example>, (415) 555-2671 or +49 30 1234567.",
    "00821012345678 and 010-1234-5678; +1-415-555-2671/",
    "call +49 30 1234567. Then 010-123-4567-8",
    "v1.2.3+4567890123 at a@b and x@localhost; 2026-11-23 12:00:00",
    "git@github.com:a/b.git and user@[::1]",
    "전화 010-9876-5432, 메일 kim@example.kr",
    "(212)555-0199x 4111111111111111 +1",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_addresses_and_phones_are_found(text: str) -> None:
    hidden: list[str] = []

    def name(kind: str, value: str) -> str:
        hidden.append(kind)
        return "…"

    named(text, name)
    assert sorted(hidden) == sorted(kind for _, _, kind in people(text) if kind in ("email", "phone"))
