"""What an installer writes of plugins, kept in memory."""

from hermes_core.control import PluginsBroker


class Ledger(PluginsBroker):
    """What was noted, and which plugins are there."""

    def __init__(self, *there):
        self.noted, self.there, self.forgotten = {}, there, []

    def list(self):
        return self.there

    async def tools(self, platform=""):
        return ()

    def offered(self, table):
        return ()

    def wanted(self):
        return dict(sorted(self.noted.items()))

    def note(self, distribution, request):
        self.noted[distribution] = request

    def forget(self, distribution):
        self.noted.pop(distribution, None)
        self.forgotten.append(distribution)
