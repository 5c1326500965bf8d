# The API without torch: docker build -f docker/api.Dockerfile -t lexgraph-api .
# Its law, indexes and models lie in the volume /data, where `lexgraph ingest`, `index` and `train` wrote them.
FROM python:3.11-slim
WORKDIR /app
COPY pyproject.toml requirements.lock README.md lexgraph.py ./
COPY schema schema
COPY cypher cypher
COPY ingest ingest
COPY search search
COPY gnn gnn
COPY api api
RUN pip install --no-cache-dir 'uv>=0.5,<1' \
    && uv pip install --system --no-cache --constraint requirements.lock -e '.[onnx]' \
    && useradd --create-home lexgraph
USER lexgraph
ENV LEXGRAPH_HOME=/data LEXGRAPH_HOST=0.0.0.0
VOLUME /data
EXPOSE 8000
CMD ["lexgraph", "serve"]
