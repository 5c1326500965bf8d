// What changed since a day
// Lists the articles whose present wording came into force after a day, the latest first.
// Set the parameter first, in a line of its own, without the slashes:
//   :param since => '2024-01-01'
MATCH (a:Article)
WHERE a.valid_from > date($since)
RETURN a.valid_from AS valid_from, a.number AS number, left(a.text, 120) AS text, a.id AS id
ORDER BY valid_from DESC, id
LIMIT 1000;
