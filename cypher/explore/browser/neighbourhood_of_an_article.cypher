// The neighbourhood of an article
// Shows the article, the sections above it up to its act, the articles before and after it, what it cites (law outside
// the graph too) and what cites it.
// Set the parameter first, in a line of its own, without the slashes:
//   :param article => 'fr/LEGITEXT000006072050/L1234-9'
MATCH path = (:Act)-[:CONTAINS*1..20]->(:Article {id: $article})
RETURN path
UNION
MATCH path = (:Article {id: $article})-[:NEXT|CITES|CITES_OUTSIDE]-()
RETURN path;
