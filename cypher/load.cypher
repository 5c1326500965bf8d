// Writing law: whole batches of rows at a time. A date comes as ISO text, "" where there is none.

// name: graph_row
MATCH (g:Graph {id: 'graph'})
RETURN g.schema_version AS schema_version, g.corpus_sha256 AS corpus_sha256, g.questions_sha256 AS questions_sha256;

// name: create_graph_row
CREATE (:Graph {id: 'graph', schema_version: $schema_version, corpus_sha256: '', questions_sha256: ''});

// name: set_schema_version
MATCH (g:Graph {id: 'graph'}) SET g.schema_version = $schema_version;

// name: set_corpus_sha256
MATCH (g:Graph {id: 'graph'}) SET g.corpus_sha256 = $sha256;

// name: set_questions_sha256
MATCH (g:Graph {id: 'graph'}) SET g.questions_sha256 = $sha256;

// name: sources
MATCH (s:Source)
RETURN s.id AS id, s.collection AS collection, s.reader AS reader, s.rank AS rank, s.sha256 AS sha256, s.records AS records,
       s.rejected AS rejected, s.passed_over AS passed_over, s.waits_since AS waits_since
ORDER BY id;

// name: delete_sources
UNWIND $ids AS id MATCH (s:Source {id: id}) DELETE s;

// name: create_sources
UNWIND $rows AS r
CREATE (:Source {id: r.id, collection: r.collection, reader: r.reader, rank: r.rank, sha256: r.sha256, records: r.records,
  rejected: r.rejected, passed_over: r.passed_over, waits_since: r.waits_since});

// name: forget_source_sha256
// The files will be read again.
UNWIND $ids AS id MATCH (s:Source {id: id}) SET s.sha256 = '';

// name: create_acts
UNWIND $rows AS r
CREATE (:Act {
  id: r.id, jurisdiction: r.jurisdiction, kind: r.kind, title: r.title, language: r.language, status: r.status,
  valid_from: CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
  valid_to: CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
  eli: r.eli, celex: r.celex, source: r.source, source_id: r.source_id, licence: r.licence, short_title: r.short_title,
  published: CASE WHEN r.published = '' THEN NULL ELSE date(r.published) END,
  updated: CASE WHEN r.updated = '' THEN NULL ELSE date(r.updated) END,
  subjects: r.subjects, preamble: r.preamble, file: '', law_sha256: '', tree_sha256: ''
});

// name: update_acts
UNWIND $rows AS r
MATCH (a:Act {id: r.id})
SET a.jurisdiction = r.jurisdiction, a.kind = r.kind, a.title = r.title, a.language = r.language, a.status = r.status,
    a.valid_from = CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
    a.valid_to = CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
    a.eli = r.eli, a.celex = r.celex, a.source = r.source, a.source_id = r.source_id, a.licence = r.licence,
    a.short_title = r.short_title,
    a.published = CASE WHEN r.published = '' THEN NULL ELSE date(r.published) END,
    a.updated = CASE WHEN r.updated = '' THEN NULL ELSE date(r.updated) END,
    a.subjects = r.subjects, a.preamble = r.preamble, a.tree_sha256 = '';

// name: open_acts
// Until an act is sealed again, it does not count as loaded.
UNWIND $ids AS id MATCH (a:Act {id: id}) SET a.tree_sha256 = '';

// name: seal_acts
// With its citations linked, an act is loaded.
UNWIND $rows AS r
MATCH (a:Act {id: r.id})
SET a.file = r.file, a.law_sha256 = r.law_sha256, a.tree_sha256 = r.tree_sha256;

// name: delete_acts
UNWIND $ids AS id MATCH (a:Act {id: id}) DETACH DELETE a;

// name: create_sections
UNWIND $rows AS r
CREATE (:Section {
  id: r.id, act_id: r.act_id, number: r.number, heading: r.heading, level: r.level, status: r.status,
  valid_from: CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
  valid_to: CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
  source_id: r.source_id, source_ids: r.source_ids, text: r.text
});

// name: update_sections
UNWIND $rows AS r
MATCH (s:Section {id: r.id})
SET s.act_id = r.act_id, s.number = r.number, s.heading = r.heading, s.level = r.level, s.status = r.status,
    s.valid_from = CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
    s.valid_to = CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
    s.source_id = r.source_id, s.source_ids = r.source_ids, s.text = r.text;

// name: delete_sections
UNWIND $ids AS id MATCH (s:Section {id: id}) DETACH DELETE s;

// name: create_articles
// Nobody cites them yet (`UNCITED` in `cypher.authority`).
UNWIND $rows AS r
CREATE (:Article {
  id: r.id, act_id: r.act_id, number: r.number, heading: r.heading, text: r.text, language: r.language, status: r.status,
  valid_from: CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
  valid_to: CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
  source_id: r.source_id, source_ids: r.source_ids, text_sha256: r.text_sha256,
  authority: 0.15
});

// name: update_articles
UNWIND $rows AS r
MATCH (a:Article {id: r.id})
SET a.act_id = r.act_id, a.number = r.number, a.heading = r.heading, a.text = r.text, a.language = r.language,
    a.status = r.status,
    a.valid_from = CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
    a.valid_to = CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
    a.source_id = r.source_id, a.source_ids = r.source_ids, a.text_sha256 = r.text_sha256;

// name: delete_articles
UNWIND $ids AS id MATCH (a:Article {id: id}) DETACH DELETE a;

// name: create_versions
UNWIND $rows AS r
MATCH (a:Article {id: r.article_id})
CREATE (a)-[:HAS_VERSION]->(:Version {
  id: r.id, article_id: r.article_id, source_id: r.source_id, status: r.status,
  valid_from: CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
  valid_to: CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
  text: r.text, text_sha256: r.text_sha256
});

// name: update_versions
UNWIND $rows AS r
MATCH (v:Version {id: r.id})
SET v.status = r.status,
    v.valid_from = CASE WHEN r.valid_from = '' THEN NULL ELSE date(r.valid_from) END,
    v.valid_to = CASE WHEN r.valid_to = '' THEN NULL ELSE date(r.valid_to) END,
    v.text = r.text, v.text_sha256 = r.text_sha256;

// name: delete_versions
UNWIND $ids AS id MATCH (v:Version {id: id}) DETACH DELETE v;

// name: delete_section_parents
UNWIND $ids AS id MATCH (:Act|Section)-[c:CONTAINS]->(s:Section {id: id}) DELETE c;

// name: delete_article_parents
UNWIND $ids AS id MATCH (:Act|Section)-[c:CONTAINS]->(a:Article {id: id}) DELETE c;

// name: create_act_contains_section
UNWIND $rows AS r
MATCH (p:Act {id: r.parent}) MATCH (c:Section {id: r.child})
CREATE (p)-[:CONTAINS {position: r.position}]->(c);

// name: create_act_contains_article
UNWIND $rows AS r
MATCH (p:Act {id: r.parent}) MATCH (c:Article {id: r.child})
CREATE (p)-[:CONTAINS {position: r.position}]->(c);

// name: create_section_contains_section
UNWIND $rows AS r
MATCH (p:Section {id: r.parent}) MATCH (c:Section {id: r.child})
CREATE (p)-[:CONTAINS {position: r.position}]->(c);

// name: create_section_contains_article
UNWIND $rows AS r
MATCH (p:Section {id: r.parent}) MATCH (c:Article {id: r.child})
CREATE (p)-[:CONTAINS {position: r.position}]->(c);

// name: delete_next
UNWIND $ids AS id MATCH (:Article {id: id})-[n:NEXT]->(:Article) DELETE n;

// name: create_next
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (b:Article {id: r.following})
CREATE (a)-[:NEXT]->(b);

// name: delete_citations
UNWIND $ids AS id MATCH (:Article {id: id})-[c:CITES]->() DELETE c;

// name: delete_outside_citations
UNWIND $ids AS id MATCH (:Article {id: id})-[c:CITES_OUTSIDE]->(:Outside) DELETE c;

// name: create_article_citations
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (b:Article {id: r.target})
CREATE (a)-[:CITES {text: r.text, start: r.start, `end`: r.`end`, kind: r.kind, cited: r.cited}]->(b);

// name: create_section_citations
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (b:Section {id: r.target})
CREATE (a)-[:CITES {text: r.text, start: r.start, `end`: r.`end`, kind: r.kind, cited: r.cited}]->(b);

// name: create_act_citations
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (b:Act {id: r.target})
CREATE (a)-[:CITES {text: r.text, start: r.start, `end`: r.`end`, kind: r.kind, cited: r.cited}]->(b);

// name: merge_outside
UNWIND $rows AS r
MERGE (o:Outside {id: r.id})
SET o.kind = r.kind;

// name: create_outside_citations
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (o:Outside {id: r.target})
CREATE (a)-[:CITES_OUTSIDE {text: r.text, start: r.start, `end`: r.`end`, kind: r.kind}]->(o);

// name: delete_relations
UNWIND $ids AS id MATCH (:Act {id: id})-[r:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(:Act) DELETE r;

// name: delete_outside_relations
UNWIND $ids AS id MATCH (:Act {id: id})-[r:RELATES_OUTSIDE]->(:Outside) DELETE r;

// name: create_cites
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:CITES {text: r.evidence, start: 0, `end`: 0, kind: r.basis, cited: r.cited}]->(b);

// name: create_transposes
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:TRANSPOSES {basis: r.basis, evidence: r.evidence, confidence: r.confidence, cited: r.cited}]->(b);

// name: create_amends
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:AMENDS {basis: r.basis, evidence: r.evidence, confidence: r.confidence, cited: r.cited}]->(b);

// name: create_repeals
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:REPEALS {basis: r.basis, evidence: r.evidence, confidence: r.confidence, cited: r.cited}]->(b);

// name: create_consolidates
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:CONSOLIDATES {basis: r.basis, evidence: r.evidence, confidence: r.confidence, cited: r.cited}]->(b);

// name: create_relates_outside
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (o:Outside {id: r.target})
CREATE (a)-[:RELATES_OUTSIDE {type: r.type, basis: r.basis, evidence: r.evidence, confidence: r.confidence}]->(o);

// name: delete_lone_outside
MATCH (o:Outside) WHERE NOT EXISTS { MATCH (:Article|Act)-[:CITES_OUTSIDE|RELATES_OUTSIDE]->(o) } DELETE o;

// name: delete_questions
UNWIND $ids AS id MATCH (q:Question {id: id}) DETACH DELETE q;

// name: create_questions
UNWIND $rows AS r
CREATE (:Question {
  id: r.id, text: r.text, description: r.description, source: r.source,
  split: r.split, split_by_dossier: r.split_by_dossier, file: r.file
});

// name: set_question_files
UNWIND $rows AS r MATCH (q:Question {id: r.id}) SET q.file = r.file;

// name: create_relevant
UNWIND $rows AS r
MATCH (q:Question {id: r.question}) MATCH (a:Article {id: r.article})
CREATE (q)-[:RELEVANT_TO {via: r.via}]->(a);

// name: stored_authority
MATCH (a:Article) WHERE a.authority IS NOT NULL RETURN a.id AS id, a.authority AS authority;

// name: set_authority
UNWIND $rows AS r MATCH (a:Article {id: r.id}) SET a.authority = r.authority;

// name: take_lock
// The lock is touched first, so that two who come at once stand in line. Free of charge where nobody shares a graph:
// the embedded engine locks a file instead.
// engine: neo4j
MERGE (l:Lock {id: $id})
SET l.asked = timestamp()
WITH l WHERE l.holder IS NULL OR l.holder = $holder OR l.expires < timestamp()
SET l.holder = $holder, l.expires = timestamp() + $lease_ms
RETURN l.holder AS holder;

// name: pass_fences
// Whoever has taken a lock waits here for the transactions that looked at it before.
// engine: neo4j
UNWIND range(0, $fences - 1) AS fence
MERGE (f:Lock {id: $id + '/' + fence}) SET f.asked = timestamp();

// name: hold_lock
// The fence first: it stays this transaction's to its end. Only then the look at the lock.
// engine: neo4j
MERGE (f:Lock {id: $id + '/' + $fence}) SET f.asked = timestamp()
WITH f MATCH (l:Lock {id: $id, holder: $holder})
RETURN l.holder AS holder;

// name: give_back_lock
// engine: neo4j
MATCH (l:Lock {id: $id, holder: $holder}) DELETE l;
