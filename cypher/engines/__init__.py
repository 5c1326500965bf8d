"""The graph engines: ladybug in a file, Neo4j on a server."""
