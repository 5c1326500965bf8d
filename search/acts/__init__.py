"""Whole acts like another."""
