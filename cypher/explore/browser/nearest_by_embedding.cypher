// The nearest neighbours of an article
// Lists the articles whose embeddings are nearest to an article's own in the vector index of the active model.
// Set the parameter first, in a line of its own, without the slashes:
//   :param article => 'fr/LEGITEXT000006072050/L1234-9'
MATCH (m:Model {status: 'active'})
// The property is named after the model, with _ for what is neither a letter, a digit nor _.
WITH 'embedding_' + reduce(name = '', c IN split(m.id, '') | name + CASE WHEN c =~ '[A-Za-z0-9_]' THEN c ELSE '_' END) AS property
MATCH (a:Article {id: $article})
WHERE a[property] IS NOT NULL
CALL db.index.vector.queryNodes('article_' + property, 21, a[property]) YIELD node, score
WHERE node <> a
RETURN round(2 * score - 1, 4) AS cosine, node.number AS number, left(node.text, 120) AS text, node.id AS id
ORDER BY cosine DESC, id;
