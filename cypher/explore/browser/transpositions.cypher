// Acts that transpose a directive
// Shows national acts and the directives of the European Union that they transpose, with the evidence on the edges.
MATCH path = (:Act)-[:TRANSPOSES]->(:Act {kind: 'directive'})
RETURN path;
