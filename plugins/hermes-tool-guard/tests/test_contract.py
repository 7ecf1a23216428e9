"""The promises of every guard, for this one."""

from typing import ClassVar

from hermes_core.testing import GuardContract


class TestGuard(GuardContract):
    module = "hermes_tool_guard"
    kind = "tool"
    never = ("env -u A cat {closed}", "cat {folder}/c*.yaml", "eval 'rm -rf ~'", "bash <<< 'rm -rf ~'", ":(){ :|:& };:")
    harmless = ("rm -rf build", "python3 {readable}/run.py", "ls {folder}", "find . -name '*.pyc' -delete")
    parts: ClassVar[dict[str, list[str]]] = {
        "A=1 nice -n 5 git  push": ["git push"],
        "bash -c 'ls; rm x'": ["ls", "rm x"],
        "if a; then b; fi": ["a", "b"],
    }
