"""Tools to explore the graph of a server by hand: Neo4j Browser and py2neo."""
