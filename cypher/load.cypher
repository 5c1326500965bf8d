// Writing law: whole batches of rows at a time.

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
MATCH (s:Source) RETURN {{Source s}} ORDER BY id;

// name: origins
MATCH (o:Origin) RETURN {{Origin o}} ORDER BY id;

// name: newest_update
// Of acts out of files whose names begin so.
MATCH (a:Act) WHERE a.file STARTS WITH $files AND a.updated IS NOT NULL
RETURN a.updated AS day ORDER BY day DESC LIMIT 1;

// name: create_{label}s
// for label: Source, Act, Section, Article, Question, Origin, Revision
UNWIND $rows AS r CREATE (:{{label}} {{{label <- r}}});

// name: forget_source_sha256
// The files will be read again.
UNWIND $ids AS id MATCH (s:Source {id: id}) SET s.sha256 = '';

// name: update_acts
UNWIND $rows AS r MATCH (a:Act {id: r.id}) SET {{a: Act <- r}}, a.tree_sha256 = '';

// name: open_acts
// Until an act is sealed again, it does not count as loaded.
UNWIND $ids AS id MATCH (a:Act {id: id}) SET a.tree_sha256 = '';

// name: seal_acts
// With its citations linked, an act is loaded.
UNWIND $rows AS r
MATCH (a:Act {id: r.id})
SET a.file = r.file, a.law_sha256 = r.law_sha256, a.tree_sha256 = r.tree_sha256;

// name: begin_records
// From here on, what a load changes of the wordings of an act's articles is kept.
UNWIND $ids AS id
MERGE (r:Revision {id: id})
ON CREATE SET r.article_id = id, r.recorded = $recorded, r.taken = [], r.given = [];

// name: begun_records
UNWIND $ids AS id MATCH (r:Revision {id: id}) RETURN r.id AS id;

// name: set_law_sha256
// What indexes are made from has changed.
MATCH (a:Act {id: $id}) SET a.law_sha256 = $sha256;

// name: delete_{label}s
// for label: Source, Act, Section, Article, Wording, Question, Origin, Revision
UNWIND $ids AS id MATCH (n:{{label}} {id: id}) DETACH DELETE n;

// name: update_{label}s
// for label: Section, Article, Wording
UNWIND $rows AS r MATCH (n:{{label}} {id: r.id}) SET {{n: label <- r}};

// name: create_wordings
UNWIND $rows AS r
MATCH (a:Article {id: r.article_id})
CREATE (a)-[:HAS_WORDING]->(:Wording {{{Wording <- r}}});

// name: delete_{child}_parents
// for child: Section, Article
UNWIND $ids AS id MATCH (:Act|Section)-[c:CONTAINS]->(n:{{child}} {id: id}) DELETE c;

// name: create_{parent}_contains_{child}
// for parent: Act, Section
// for child: Section, Article
UNWIND $rows AS r
MATCH (p:{{parent}} {id: r.parent}) MATCH (c:{{child}} {id: r.child})
CREATE (p)-[:CONTAINS {position: r.position}]->(c);

// name: delete_next
UNWIND $ids AS id MATCH (:Article {id: id})-[n:NEXT]->(:Article) DELETE n;

// name: create_next
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (b:Article {id: r.following})
CREATE (a)-[:NEXT]->(b);

// name: delete_renumberings
// Of acts.
UNWIND $ids AS id MATCH (a:Article {act_id: id})-[r:RENUMBERED_TO]->(:Article) DELETE r;

// name: create_renumberings
UNWIND $rows AS r
MATCH (a:Article {id: r.article_id}) MATCH (b:Article {id: r.target})
CREATE (a)-[:RENUMBERED_TO {{{RENUMBERED_TO <- r}}}]->(b);

// name: delete_citations
UNWIND $ids AS id MATCH (:Article {id: id})-[c:CITES]->() DELETE c;

// name: delete_outside_citations
UNWIND $ids AS id MATCH (:Article {id: id})-[c:CITES_OUTSIDE]->(:Outside) DELETE c;

// name: create_{label}_citations
// for label: Article, Section, Act
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (b:{{label}} {id: r.target})
CREATE (a)-[:CITES {{{CITES <- r}}}]->(b);

// name: merge_outside
UNWIND $rows AS r
MERGE (o:Outside {id: r.id})
SET o.kind = r.kind;

// name: create_outside_citations
UNWIND $rows AS r
MATCH (a:Article {id: r.article}) MATCH (o:Outside {id: r.target})
CREATE (a)-[:CITES_OUTSIDE {{{CITES_OUTSIDE <- r}}}]->(o);

// name: delete_relations
UNWIND $ids AS id MATCH (:Act {id: id})-[r:CITES|TRANSPOSES|AMENDS|REPEALS|CONSOLIDATES]->(:Act) DELETE r;

// name: delete_outside_relations
UNWIND $ids AS id MATCH (:Act {id: id})-[r:RELATES_OUTSIDE]->(:Outside) DELETE r;

// name: create_cites
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:CITES {text: r.evidence, start: 0, `end`: 0, kind: r.basis, cited: r.cited}]->(b);

// name: create_{type}
// for type: TRANSPOSES, AMENDS, REPEALS, CONSOLIDATES
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (b:Act {id: r.target})
CREATE (a)-[:{{type}} {{{type <- r}}}]->(b);

// name: create_relates_outside
UNWIND $rows AS r
MATCH (a:Act {id: r.act}) MATCH (o:Outside {id: r.target})
CREATE (a)-[:RELATES_OUTSIDE {{{RELATES_OUTSIDE <- r}}}]->(o);

// name: delete_lone_outside
MATCH (o:Outside) WHERE NOT EXISTS { MATCH (:Article|Act)-[:CITES_OUTSIDE|RELATES_OUTSIDE]->(o) } DELETE o;

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
