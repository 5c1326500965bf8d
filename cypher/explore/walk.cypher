// Walking the law in a notebook (`cypher.explore.py2neo_objects`): whole nodes, which a server's other client makes objects of.

// name: walk_graph
// engine: neo4j
MATCH (g:Graph {id: 'graph'}) RETURN g.schema_version AS schema_version;

// name: walk_sections
// engine: neo4j
MATCH (p:Act|Section {id: $id})-[c:CONTAINS]->(n:Section) RETURN n ORDER BY c.position, n.id;

// name: walk_articles
// engine: neo4j
MATCH (p:Act|Section {id: $id})-[c:CONTAINS]->(n:Article) RETURN n ORDER BY c.position, n.id;

// name: walk_every_article
// engine: neo4j
// In reading order: by the positions on the way down.
MATCH path = (p:Act|Section {id: $id})-[:CONTAINS*1..20]->(n:Article)
RETURN n ORDER BY [c IN relationships(path) | c.position], n.id;

// name: walk_path
// engine: neo4j
MATCH path = (n:Act|Section)-[:CONTAINS*1..20]->(p:Section|Article {id: $id})
RETURN n ORDER BY length(path) DESC;

// name: walk_cites
// engine: neo4j
MATCH (a:Article {id: $id})-[c:CITES]->(n:Article|Section|Act)
WITH n, min(c.start) AS start
RETURN n ORDER BY start, n.id;

// name: walk_cited_by
// engine: neo4j
MATCH (n:Article)-[:CITES]->(p:Act|Section|Article {id: $id}) WITH DISTINCT n RETURN n ORDER BY n.id;

// name: walk_next
// engine: neo4j
MATCH (:Article {id: $id})-[:NEXT]->(n:Article) RETURN n;

// name: walk_previous
// engine: neo4j
MATCH (:Article {id: $id})<-[:NEXT]-(n:Article) RETURN n;

// name: walk_acts
// engine: neo4j
MATCH (n:Act) RETURN n ORDER BY n.id;

// name: walk_find
// engine: neo4j
MATCH (n:Act|Section|Article {id: $id}) RETURN n;

// name: walk_numbered
// engine: neo4j
MATCH (n:Article) WHERE n.number IN $numbers AND ($act IS NULL OR n.act_id = $act) RETURN n ORDER BY n.id;
