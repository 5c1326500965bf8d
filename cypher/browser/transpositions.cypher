// Acts that transpose a directive
// Shows national acts and the directives of the European Union that they transpose; an edge says on what evidence, and how
// sure it is.
MATCH path = (:Act)-[:TRANSPOSES]->(:Act {kind: 'directive'})
RETURN path;
