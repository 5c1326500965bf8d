"""Training of a recipe."""
