"""Citations in running text, found and resolved."""
