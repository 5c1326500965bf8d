"""The way from records to the graph."""
