"""What is known of a model by its name: whose it is, which generation, what of the protocol it takes.

A name is that of a model, of an inference profile (``eu.`` and the like before it), or an ARN of either. Of an
application's own profile nothing is known. What is not known is not asked for.
Source: the pages "Prompt caching" and "Inference parameters" of the user guide of Amazon Bedrock.
"""

import re

__all__ = ["caches", "claude", "images", "plain", "takes_failures", "thinks", "tools_cached"]

_PLACE = re.compile(r"^(?:global|us|us-gov|eu|apac|jp|au|ca|sa|me|af)\.")
_CLAUDE = re.compile(r"^anthropic\.claude-(?:([a-z]+)-)?(\d+)(?:-(\d{1,2})(?!\d))?")
_BLIND = re.compile(r"micro|claude-3-5-haiku|claude-(?:v2|instant)|titan-text|deepseek|gpt-oss|command-r|jamba")


def plain(model: str) -> str:
    """Give the name of the model itself, as ``anthropic.claude-sonnet-4-6``; of an unknown profile its id."""
    return _PLACE.sub("", model.rsplit("/", 1)[-1])


def claude(model: str) -> tuple[int, int]:
    """Tell of which generation a Claude is, as (4, 6); (0, 0) for every other model."""
    found = _CLAUDE.match(plain(model))
    return (int(found[2]), int(found[3] or 0)) if found else (0, 0)


def caches(model: str) -> bool:
    """Tell whether a model is known to keep what it was sent, where it is marked."""
    name = plain(model)
    return claude(model) >= (3, 7) or name.startswith(("anthropic.claude-3-5-haiku", "amazon.nova-"))


def tools_cached(model: str) -> bool:
    """Tell whether the mark may stand behind the tools."""
    return claude(model) > (0, 0)


def takes_failures(model: str) -> bool:
    """Tell whether a result of a tool may say that it failed."""
    return claude(model) >= (3, 0) or plain(model).startswith("amazon.nova-")


def thinks(model: str) -> bool:
    """Tell whether a model is known to think."""
    name = plain(model)
    return claude(model) >= (3, 7) or name.startswith(("amazon.nova-2-", "openai.", "deepseek.r1"))


def images(model: str) -> bool:
    """Tell whether a model may take pictures, as far as its name says."""
    return not _BLIND.search(plain(model))
