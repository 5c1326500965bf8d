"""The law in memory: articles, sections and acts as arrays."""
