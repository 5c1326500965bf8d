// Model versions: written beside each other, one of them active.

// name: models
MATCH (m:Model)
RETURN m.id AS id, m.created AS created, m.recipe AS recipe, m.encoder AS encoder, m.dimensions AS dimensions,
       m.corpus_sha256 AS corpus_sha256, m.metrics AS metrics, m.status AS status, m.activated AS activated
ORDER BY created, id;

// name: delete_model
MATCH (m:Model {id: $id}) DELETE m;

// name: create_model
CREATE (:Model {
  id: $id, created: $created, recipe: $recipe, encoder: $encoder, dimensions: $dimensions,
  corpus_sha256: $corpus_sha256, metrics: $metrics, status: $status, activated: $activated
});

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
CREATE (:Run {
  id: $id, started: $started, ended: $ended, outcome: $outcome, reason: $reason, recipe: $recipe, model: $model,
  corpus_sha256: $corpus_sha256, questions_sha256: $questions_sha256, device: $device, record: $record
});

// name: runs
MATCH (r:Run)
RETURN r.id AS id, r.started AS started, r.ended AS ended, r.outcome AS outcome, r.reason AS reason, r.recipe AS recipe,
       r.model AS model, r.device AS device, r.record AS record
ORDER BY started, id;
