"""For every test of the repository: a slow or busy machine is not a failure."""

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
settings.register_profile("long", settings.get_profile("house"), max_examples=5_000)
