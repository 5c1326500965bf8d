"""BM25 over articles and sections."""
