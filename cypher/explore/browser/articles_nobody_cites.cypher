// Articles that nobody cites
// Lists the articles of an act that no article of the graph cites, by number.
// Set the parameter first, in a line of its own, without the slashes:
//   :param act => 'fr/LEGITEXT000006072050'
MATCH (a:Article {act_id: $act})
WHERE NOT EXISTS { MATCH (:Article)-[:CITES]->(a) }
RETURN a.number AS number, left(a.text, 120) AS text, a.id AS id
ORDER BY id
LIMIT 1000;
