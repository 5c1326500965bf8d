// Acts that transpose a directive
// Shows national acts and the directives of the European Union that they transpose, and nothing as long as no transposition
// is linked.
MATCH path = (:Act)-[:TRANSPOSES]->(:Act {kind: 'directive'})
RETURN path;
