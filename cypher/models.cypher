// Model versions: written beside each other, one of them active.

// name: models
MATCH (m:Model)
RETURN m.id AS id, m.created AS created, m.recipe AS recipe, m.encoder AS encoder, m.dimensions AS dimensions,
       m.corpus_sha256 AS corpus_sha256, m.metrics AS metrics, m.status AS status
ORDER BY created, id;

// name: delete_model
MATCH (m:Model {id: $id}) DELETE m;

// name: create_model
CREATE (:Model {
  id: $id, created: $created, recipe: $recipe, encoder: $encoder, dimensions: $dimensions,
  corpus_sha256: $corpus_sha256, metrics: $metrics, status: $status
});

// name: retire_models
MATCH (m:Model {status: 'active'}) SET m.status = 'ready';

// name: activate_model
MATCH (m:Model {id: $id}) SET m.status = 'active';
