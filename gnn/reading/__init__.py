"""Rerankers that read the words of a query and of an article."""
