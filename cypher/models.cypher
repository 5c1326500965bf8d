// Model versions: written beside each other, one of them active.

// name: delete_model
MATCH (m:Model {id: $id}) DELETE m;

// name: models
MATCH (m:Model) RETURN {{Model m}} ORDER BY created, id;

// name: create_model
CREATE (:Model {{{Model <- $}}});

// name: retire_models
MATCH (m:Model {status: 'active'}) SET m.status = $status;

// name: activate_model
MATCH (m:Model {id: $id}) SET m.status = 'active', m.activated = $now;

// name: stamp
// engine: neo4j
MATCH (g:Graph {id: 'graph'})
OPTIONAL MATCH (m:Model {status: 'active'})
WITH g, max(m.id) AS active
OPTIONAL MATCH (v:Vectors {id: active})
RETURN g.corpus_sha256 AS corpus_sha256, g.questions_sha256 AS questions_sha256, active, v.corpus_sha256 AS embedded;

// name: create_run
CREATE (:Run {{{Run <- $}}});

// name: runs
MATCH (r:Run) RETURN {{Run r}} ORDER BY started, id;

