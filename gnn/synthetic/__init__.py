"""Questions that are made from the law."""
