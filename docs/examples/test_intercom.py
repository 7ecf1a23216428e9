"""The intercom promises what every driver does, and its side what slash commands need."""

import pytest
from intercom.side import Side

from hermes_core.testing import ConsoleDriverContract, HostSideContract, PluginContract


class TestPlugin(PluginContract):
    module = "intercom"


class TestDriver(ConsoleDriverContract):
    module = "intercom"


class TestSide(HostSideContract):
    place = "terminal"

    @pytest.fixture
    def side(self, hermes):
        return Side(hermes.context("intercom"), "intercom")
