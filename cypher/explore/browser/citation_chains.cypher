// Citation chains from an article
// Shows what the article cites, what that cites, and so on, up to four steps: the two hundred shortest chains.
// Set the parameter first, in a line of its own, without the slashes:
//   :param article => 'fr/LEGITEXT000006072050/L1226-14'
MATCH path = (:Article {id: $article})-[:CITES*1..4]->(:Article|Section|Act)
RETURN path
ORDER BY length(path)
LIMIT 200;
