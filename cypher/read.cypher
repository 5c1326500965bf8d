// Reading law: what the loader compares with, what the index is made of, what the API shows.

// name: acts
MATCH (a:Act)
RETURN {{Act a}}
ORDER BY id;

// name: acts_by_id
UNWIND $ids AS id
MATCH (a:Act {id: id})
RETURN {{Act a}};

// name: sections_of_acts
MATCH (s:Section)<-[c:CONTAINS]-(p:Act|Section) WHERE s.act_id IN $ids
RETURN {{Section s}}, p.id AS parent_id, c.position AS position
ORDER BY id;

// name: sections_by_id
UNWIND $ids AS id
MATCH (s:Section {id: id})
RETURN {{Section s}};

// name: articles_of_acts
MATCH (a:Article)<-[c:CONTAINS]-(p:Act|Section) WHERE a.act_id IN $ids
RETURN {{Article a}}, p.id AS parent_id, c.position AS position
ORDER BY id;

// name: articles_by_id
// Without what they stand in, which readers know: with it the embedded engine takes twenty times as long.
UNWIND $ids AS id
MATCH (a:Article {id: id})
RETURN {{Article a}}, a.authority AS authority;

// name: wordings_of_acts
MATCH (a:Article)-[:HAS_WORDING]->(w:Wording) WHERE a.act_id IN $ids
RETURN {{Wording w}}
ORDER BY id;

// name: wordings
// one by one
// Earlier and later wordings of articles, in the order of their days.
MATCH (a:Article)-[:HAS_WORDING]->(w:Wording) WHERE a.id IN $ids
RETURN {{Wording w}}
ORDER BY article_id, valid_from, id;

// name: revisions
// What loads changed of what was on record of articles, and when the record of acts began; the latest first.
MATCH (r:Revision) WHERE r.article_id IN $ids
RETURN {{Revision r}}
ORDER BY article_id, recorded DESC;

// name: renumberings
// one by one
// The new numbers of articles.
MATCH (a:Article)-[r:RENUMBERED_TO]->(b:Article) WHERE a.id IN $ids
RETURN a.id AS id, b.id AS other, b.number AS number, {{RENUMBERED_TO r}}
ORDER BY id, other;

// name: renumberings_into
// one by one
// The old numbers of articles.
MATCH (a:Article)-[r:RENUMBERED_TO]->(b:Article) WHERE b.id IN $ids
RETURN b.id AS id, a.id AS other, a.number AS number, {{RENUMBERED_TO r}}
ORDER BY id, other;

// name: renumberings_of_acts
MATCH (a:Article)-[r:RENUMBERED_TO]->(b:Article) WHERE a.act_id IN $ids
RETURN a.id AS id, b.id AS other, b.number AS number, {{RENUMBERED_TO r}}
ORDER BY id, other;

// name: known_wordings
// Empty where the text of no other wording is known.
MATCH (w:Wording) WHERE w.text <> '' RETURN true AS known LIMIT 1;

// name: corpus_wordings
MATCH (w:Wording) RETURN w.article_id AS article_id, w.valid_from AS valid_from, w.valid_to AS valid_to, w.text AS text;

// name: act_files
MATCH (a:Act) RETURN a.id AS id, a.file AS file, a.law_sha256 AS law_sha256, a.tree_sha256 AS tree_sha256 ORDER BY id;

// name: article_acts
MATCH (a:Article) RETURN a.id AS id, a.act_id AS act_id;

// name: relations_of_acts
MATCH (a:Act)-[r:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(b:Act) WHERE a.id IN $ids
RETURN a.id AS act, {{type of r}} AS type, b.id AS target, coalesce(r.basis, r.kind) AS basis, coalesce(r.evidence, r.text) AS evidence,
       coalesce(r.confidence, 1.0) AS confidence, r.cited AS cited
ORDER BY act, type, target;

// name: outside_relations_of_acts
MATCH (a:Act)-[r:RELATES_OUTSIDE]->(o:Outside) WHERE a.id IN $ids
RETURN a.id AS act, r.type AS type, o.id AS target, r.basis AS basis, r.evidence AS evidence, r.confidence AS confidence,
       o.id AS cited
ORDER BY act, type, target;

// name: relations_into
// What acts do to an act.
MATCH (a:Act)-[r:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(b:Act) WHERE b.id IN $ids
RETURN b.id AS id, {{type of r}} AS type, a.id AS other, coalesce(r.basis, r.kind) AS basis, coalesce(r.evidence, r.text) AS evidence,
       coalesce(r.confidence, 1.0) AS confidence
ORDER BY id, type, other;

// name: acts_relating_outside
MATCH (a:Act)-[:RELATES_OUTSIDE]->(o:Outside) WHERE o.id IN $ids RETURN DISTINCT a.id AS act;

// name: acts_relating
MATCH (a:Act)-[r:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(:Act) WHERE r.cited IN $ids RETURN DISTINCT a.id AS act;

// name: acts_relating_to
MATCH (a:Act)-[:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(b:Act) WHERE b.id IN $ids RETURN DISTINCT a.id AS act;

// name: cited
// What citations and relations name, and what they point to.
MATCH ()-[c:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(b:Article|Section|Act)
RETURN DISTINCT c.cited AS cited, b.id AS target;

// name: outside_ids
MATCH (o:Outside) RETURN o.id AS id, o.kind AS kind ORDER BY id;

// name: next_of_acts
MATCH (a:Article)-[:NEXT]->(b:Article) WHERE a.act_id IN $ids
RETURN a.id AS article, b.id AS following
ORDER BY article;

// name: citations_of_acts
MATCH (a:Article)-[c:CITES]->(b:Article|Section|Act) WHERE a.act_id IN $ids
RETURN a.id AS article, b.id AS target, {{CITES c}};

// name: outside_citations_of_acts
MATCH (a:Article)-[c:CITES_OUTSIDE]->(o:Outside) WHERE a.act_id IN $ids
RETURN a.id AS article, o.id AS target, o.kind AS target_kind, {{CITES_OUTSIDE c}};

// name: articles_citing
// Articles that cite publishers' identifiers, in the graph or outside it.
MATCH (a:Article)-[c:CITES]->() WHERE c.cited IN $ids RETURN DISTINCT a.id AS article;

// name: articles_citing_outside
MATCH (a:Article)-[:CITES_OUTSIDE]->(o:Outside) WHERE o.id IN $ids RETURN DISTINCT a.id AS article;

// name: citations_from
// one by one
MATCH (a:Article)-[c:CITES]->(b:Article|Section|Act) WHERE a.id IN $ids
RETURN a.id AS article, {{label of b}} AS label, b.id AS target, {{CITES c}};

// name: outside_citations_from
// one by one
MATCH (a:Article)-[c:CITES_OUTSIDE]->(o:Outside) WHERE a.id IN $ids
RETURN a.id AS article, o.id AS target, o.kind AS target_kind, {{CITES_OUTSIDE c}};

// name: outside_relations
MATCH (a:Act)-[r:RELATES_OUTSIDE]->(o:Outside)
RETURN a.id AS act, r.type AS type, o.id AS target, r.evidence AS evidence, r.basis AS basis
ORDER BY act, type, target;

// name: outside_citations
MATCH (a:Article)-[c:CITES_OUTSIDE]->(o:Outside)
RETURN a.id AS article, o.id AS target, o.kind AS target_kind, {{CITES_OUTSIDE c}}
ORDER BY article, start, target;

// name: citations
MATCH (a:Article)-[c:CITES]->(b:Article|Section|Act)
RETURN a.id AS article, {{label of b}} AS label, b.id AS target, {{CITES c}}
ORDER BY article, start, target;

// name: citations_into_{label}
// for label: Article, Section, Act
UNWIND $ids AS id
MATCH (a:Article)-[c:CITES]->(b:{{label}} {id: id})
RETURN a.id AS article, {{CITES c}};

// name: article_source_ids
MATCH (a:Article) RETURN a.id AS id, a.source_ids AS source_ids ORDER BY id;

// name: act_names
MATCH (a:Act)
RETURN a.id AS id, a.eli AS eli, a.source_id AS source_id, a.title AS title, a.kind AS kind, a.jurisdiction AS jurisdiction,
       a.celex AS celex, a.short_title AS short_title, a.published AS published
ORDER BY id;

// name: names_of_articles
MATCH (a:Article)
RETURN a.act_id AS act_id, collect(a.id) AS ids, collect(a.number) AS numbers, collect(a.source_ids) AS source_ids;

// name: names_of_sections
MATCH (s:Section)
RETURN s.act_id AS act_id, collect(s.id) AS ids, collect(s.number) AS numbers, collect(s.source_ids) AS source_ids;

// name: with_source_id_{label}
// for label: Article, Section
MATCH (n:{{label}}) WHERE $source_id IN n.source_ids RETURN n.id AS id ORDER BY id;

// name: section_source_ids
MATCH (s:Section) RETURN s.id AS id, s.source_ids AS source_ids ORDER BY id;

// name: corpus_articles
// Everything the index needs of the articles of the graph.
MATCH (a:Article)<-[c:CONTAINS]-(p:Act|Section)
RETURN a.id AS id, a.act_id AS act_id, p.id AS parent_id, c.position AS position, a.number AS number,
       a.heading AS heading, a.text AS text, a.valid_from AS valid_from, a.valid_to AS valid_to,
       a.authority AS authority, a.stays AS stays;

// name: corpus_sections
MATCH (s:Section)<-[c:CONTAINS]-(p:Act|Section)
RETURN s.id AS id, s.act_id AS act_id, p.id AS parent_id, c.position AS position, s.heading AS heading,
       s.level AS level;

// name: corpus_citations
MATCH (a:Article)-[:CITES]->(b:Article) RETURN DISTINCT a.id AS article, b.id AS target;

// name: questions
MATCH (q:Question {source: $source})-[:RELEVANT_TO]->(a:Article)
RETURN q.id AS id, q.text AS text, q.description AS description, q.source AS source, q.split AS split,
       q.split_by_dossier AS split_by_dossier, a.id AS article
ORDER BY id, article;

// name: unanswered_questions
// Those that no article answers: of a source of questions outside this law, or whose articles are gone.
MATCH (q:Question {source: $source}) WHERE NOT EXISTS { MATCH (q)-[:RELEVANT_TO]->(:Article) }
RETURN q.id AS id, q.text AS text, q.description AS description, q.source AS source, q.split AS split,
       q.split_by_dossier AS split_by_dossier
ORDER BY id;

// name: question_sources
MATCH (q:Question) RETURN DISTINCT q.source AS source ORDER BY source;

// name: question_files
// Also of questions that have lost all their articles.
MATCH (q:Question) RETURN q.id AS id, q.source AS source, q.file AS file ORDER BY id;

// name: contents
// What stands directly below each of $ids, sections and articles, in order.
MATCH (p:Act|Section)-[c:CONTAINS]->(n:Section|Article) WHERE p.id IN $ids
RETURN p.id AS parent_id, n.id AS id, {{label of n}} AS label, c.position AS position
ORDER BY parent_id, position;

// name: cites
// one by one
MATCH (a:Article)-[c:CITES]->(b:Article|Section|Act) WHERE a.id IN $ids
RETURN a.id AS id, b.id AS other, {{CITES_OUTSIDE c}}
ORDER BY id, start, other;

// name: cited_by
MATCH (a:Article)-[c:CITES]->(b:Article|Section|Act) WHERE b.id IN $ids
RETURN b.id AS id, a.id AS other, {{CITES_OUTSIDE c}}
ORDER BY id, other, start;

// name: counts
MATCH (n) RETURN label(n) AS label, count(*) AS n ORDER BY label;

// name: counts
// engine: neo4j
MATCH (n) WHERE NOT n:Lock AND NOT n:Vectors RETURN labels(n)[0] AS label, count(*) AS n ORDER BY label;

// name: edge_counts
MATCH ()-[r]->() RETURN {{type of r}} AS type, count(*) AS n ORDER BY type;

// name: outside_counts
MATCH (:Article)-[c:CITES_OUTSIDE]->(o:Outside) RETURN o.kind AS kind, count(*) AS n ORDER BY kind;

// name: outside_relation_counts
MATCH (:Act)-[r:RELATES_OUTSIDE]->(:Outside) RETURN r.type AS type, count(*) AS n ORDER BY type;

// name: citation_counts
MATCH (:Article)-[c:CITES]->(b:Article|Section|Act) RETURN {{label of b}} AS label, count(*) AS n ORDER BY label;

// name: contains_section_{child}
// for child: Section, Article
MATCH (p:Section)-[:CONTAINS]->(c:{{child}}) RETURN p.id AS parent, c.id AS child;
