"""Transformers that are trained further on the questions."""
