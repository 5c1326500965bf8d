// Sections by authority
// Ranks the sections of one level of an act (1 is directly below it) by the sum of the authority of all articles below
// them. Authority is PageRank over citations, 0.15 for an article that nobody cites.
// Set the parameters first, each in a line of its own, without the slashes:
//   :param act => 'fr/LEGITEXT000006072050'
//   :param level => 3
MATCH (s:Section {act_id: $act})-[:CONTAINS*1..20]->(a:Article)
WHERE s.level = $level
RETURN s.heading AS section, round(sum(a.authority), 2) AS authority, count(a) AS articles, s.id AS id
ORDER BY authority DESC, id
LIMIT 100;
