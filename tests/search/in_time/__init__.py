"""Search in the law of other days."""
