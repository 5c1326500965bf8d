"""Recipes side by side on the same questions, over several seeds."""
