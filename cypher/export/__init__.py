"""The graph as files: a canonical dump, the bulk import of Neo4j."""
