"""All rules in the order in which they are tried. Each looks at one clause and says what step it is, or None."""

from collections.abc import Callable, Sequence

from hermes_provider_offline import rules_change as change
from hermes_provider_offline import rules_look as look
from hermes_provider_offline import rules_said as said
from hermes_provider_offline.clause import Clause
from hermes_provider_offline.foreign import foreign_rule
from hermes_provider_offline.step import Step
from hermes_provider_offline.talk import talk_rule

Rule = Callable[[Clause], Step | None]

RULES: Sequence[Rule] = (
    said.tool_rule,
    said.run_rule,
    said.forget_rule,
    said.sessions_rule,
    said.remember_rule,
    talk_rule,
    change.write_rule,
    change.append_rule,
    change.edit_rule,
    look.headings_rule,
    look.lines_rule,
    look.count_rule,
    said.question_rule,
    look.which_rule,
    look.find_rule,
    look.search_rule,
    look.summary_rule,
    look.list_rule,
    foreign_rule,
    look.read_rule,
    said.statement_rule,
)


def understand(clause: Clause) -> Step | None:
    """The step a clause asks for, or None when no rule knows it."""
    if not clause.text:
        return None
    return next((step for rule in RULES if (step := rule(clause))), None)


def kind_of(clause: Clause) -> str:
    """The name of the rule a clause falls under, or an empty string."""
    step = understand(clause)
    return step.kind if step else ""
