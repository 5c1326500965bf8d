"""The shape of the law: records, identifiers, labels, errors and settings."""
