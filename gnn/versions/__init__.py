"""Model versions: their files, and which one serves."""
