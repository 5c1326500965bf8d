"""Readers of source files, one file a format."""
