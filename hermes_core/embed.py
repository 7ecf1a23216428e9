"""Build your own program on the kernel: a named Distribution, or a running Hermes.

For scripts and notebooks the library ``hermes_agent`` has an Agent, which is a Hermes with functions as tools.
"""

from hermes_core.distribution import HERMES, Allow, Distribution
from hermes_core.hermes import Answer, Hermes, HowTurn

__all__ = ["HERMES", "Allow", "Answer", "Distribution", "Hermes", "HowTurn"]
