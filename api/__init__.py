"""GraphQL over the law: the schema, the HTTP app, and the snapshots of the law that it serves."""
