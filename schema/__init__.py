"""The shape of the law: records, identifiers, labels, errors and settings."""

VERSION = "0.1.0"
"""Version of Lexgraph."""
