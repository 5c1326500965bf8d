"""Comparison of systems on judged questions."""
