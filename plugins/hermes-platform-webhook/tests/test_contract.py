"""The promises of everything that is served, for webhooks."""

from hermes_core.testing import RoutesContract


class TestWebhook(RoutesContract):
    module = "hermes_platform_webhook"
    kind = "platform"
