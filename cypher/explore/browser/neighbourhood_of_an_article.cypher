// The neighbourhood of an article
// Shows the article, the sections above it up to its act, the articles before and after it, what it cites (law outside
// the graph too) and what cites it.
// Set the parameter first, in a line of its own, without the slashes:
//   :param article => 'fr/LEGITEXT000006072050/L1234-9'
MATCH above = (:Act)-[:CONTAINS*1..20]->(a:Article {id: $article})
OPTIONAL MATCH beside = (a)-[:NEXT|CITES|CITES_OUTSIDE]-()
RETURN above, beside;
