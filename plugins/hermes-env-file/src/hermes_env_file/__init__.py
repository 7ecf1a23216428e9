"""Files of variables, as ``.env``. A library that knows nothing of Hermes, and stands on Python alone."""
