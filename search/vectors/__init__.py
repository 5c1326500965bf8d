"""Search by embeddings."""
