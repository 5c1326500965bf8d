// The tree of an act, two levels down
// Shows the act, what stands directly below it, and what stands below that. Double-click a section to go on.
// Set the parameter first, in a line of its own, without the slashes:
//   :param act => 'fr/LEGITEXT000006072050'
MATCH path = (:Act {id: $act})-[:CONTAINS*1..2]->(:Section|Article)
RETURN path;
