"""What commands print and ask. A library that knows nothing of Hermes, and stands on click alone."""
