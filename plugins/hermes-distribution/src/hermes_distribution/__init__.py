"""A product of your own on Hermes, from one file: what it may use, what is fixed, and its name in everything it says.

main = program(__file__)  # the file hermes-distribution.toml beside this one
"""

from hermes_distribution.program import Program, program

__all__ = ["Program", "program"]
