"""What people and programs meet: GraphQL over HTTP, and the tables and bars of a terminal."""
