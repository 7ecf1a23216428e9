"""A masker: the numbers on the badges of a house are secret, so no log, no model and no file is shown one."""

# /// hermes
# api = 1
# name = "badges"
# kind = "tool"
# summary = "Finds the numbers of badges, so that they are masked."
#
# [contributes]
# maskers = ["badges"]
# ///

import re

from hermes_core import hookimpl
from hermes_core.kinds import Masker

BADGE = re.compile(r"badge-\d{4}-\d{4}")


class Badges(Masker):
    name = "badges"

    def spans(self, text):
        return [(*found.span(), True) for found in BADGE.finditer(text)]


@hookimpl
def register_maskers():
    return [Badges()]
