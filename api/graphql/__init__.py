"""The GraphQL schema and its resolvers."""
