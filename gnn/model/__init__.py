"""Networks over the graph of the law."""
