"""What the law looks like: records, identifiers, labels, errors and settings."""
