// Vector indexes of a server. Names of labels, properties and indexes cannot be parameters: <name> stands for one.

// name: write_embeddings
// engine: neo4j
UNWIND $rows AS row
MATCH (n:<label> {id: row.id}) SET n.<digest> = row.digest
WITH n, row CALL db.create.setNodeVectorProperty(n, '<property>', row.embedding)
RETURN count(*) AS n;

// name: stored_digests
// engine: neo4j
MATCH (n:<label>) WHERE n.<property> IS NOT NULL RETURN n.id AS id, n.<digest> AS digest;

// name: count_embeddings
// engine: neo4j
MATCH (n:<label>) WHERE n.<property> IS NOT NULL RETURN count(*) AS n;

// name: remove_embeddings
// engine: neo4j
MATCH (n:<label>) WHERE n.<property> IS NOT NULL WITH n LIMIT 10000 REMOVE n.<property>, n.<digest> RETURN count(*) AS n;

// name: stored_filters
// engine: neo4j
MATCH (n:Article) RETURN n.id AS id, n {<read_filters>} AS values;

// name: write_filters
// engine: neo4j
UNWIND $rows AS row MATCH (n:Article {id: row.id}) SET n += row.values;

// name: create_vector_index
// Full precision: quantised vectors would rank otherwise than those of the model's files.
// engine: neo4j
CREATE VECTOR INDEX <index> IF NOT EXISTS FOR (n:<label>) ON (n.<property>)
OPTIONS {indexConfig: {`vector.dimensions`: <dimensions>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: create_filtered_vector_index
// engine: neo4j
CYPHER 25 CREATE VECTOR INDEX <index> IF NOT EXISTS FOR (n:<label>) ON (n.<property>) WITH [<filters>]
OPTIONS {indexConfig: {`vector.dimensions`: <dimensions>, `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}};

// name: drop_vector_index
// engine: neo4j
DROP INDEX <index> IF EXISTS;

// name: await_index
// engine: neo4j
CALL db.awaitIndex($name, $seconds);

// name: await_indexes
// engine: neo4j
CALL db.awaitIndexes(300);

// name: states_of_vector_indexes
// engine: neo4j
SHOW VECTOR INDEXES YIELD name, state WHERE name IN $names RETURN name, state;

// name: properties_of_vector_indexes
// engine: neo4j
SHOW VECTOR INDEXES YIELD properties RETURN properties;

// name: note_vectors
// engine: neo4j
MERGE (v:Vectors {id: $model}) SET v.corpus_sha256 = $law, v.n = $n RETURN v.id;

// name: noted_vectors
// engine: neo4j
MATCH (v:Vectors {id: $model}) RETURN v.corpus_sha256 AS law, v.n AS n;

// name: delete_vectors
// engine: neo4j
MATCH (v:Vectors {id: $model}) DELETE v;

// name: nearest
// One row with two lists is read many times faster than a row each.
// engine: neo4j
CALL db.index.vector.queryNodes('<index>', $k, $vector) YIELD node AS n, score
WITH n.id AS id, score ORDER BY score DESC, id
RETURN collect(id) AS ids, collect(score) AS scores;

// name: nearest_that_pass
// engine: neo4j
CALL db.index.vector.queryNodes('<index>', $k, $vector) YIELD node AS n, score
WITH n, score WHERE <conditions>
WITH n.id AS id, score ORDER BY score DESC, id
RETURN collect(id) AS ids, collect(score) AS scores;

// name: nearest_in_filtered_index
// engine: neo4j
CYPHER 25 MATCH (n:<label>) SEARCH n IN (VECTOR INDEX <index> FOR $vector WHERE <conditions> LIMIT $asked) SCORE AS score
WITH n.id AS id, score ORDER BY score DESC, id LIMIT $k
RETURN collect(id) AS ids, collect(score) AS scores;

// name: count_passing
// engine: neo4j
MATCH (n:<label>) WHERE <conditions> AND n.<property> IS NOT NULL RETURN count(*) AS n;

// name: nearest_exactly
// engine: neo4j
MATCH (n:<label>) WHERE <conditions> AND n.<property> IS NOT NULL
WITH n.id AS id, vector.similarity.cosine(n.<property>, $vector) AS score ORDER BY score DESC, id LIMIT $k
RETURN collect(id) AS ids, collect(score) AS scores;

// name: server_components
// engine: neo4j
CALL dbms.components() YIELD name, versions, edition RETURN name, versions, edition;

// name: gds_version
// engine: neo4j
RETURN gds.version() AS version;
