# The API without torch: docker build -f docker/api.Dockerfile -t lexgraph-api .
# Packages are the lock's: uv refuses one whose hash is not there. The embedded graph, the indexes and the models lie in
# the volume /data; with LEXGRAPH_GRAPH and LEXGRAPH_TEXT the first two are on servers.
FROM python:3.11-slim AS packages
RUN pip install --no-cache-dir 'uv>=0.5,<1' && uv venv /venv
WORKDIR /build
COPY pyproject.toml requirements.lock ./
RUN uv pip install --python /venv/bin/python --no-cache --compile-bytecode --constraint requirements.lock \
    -r pyproject.toml --extra onnx --extra servers

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home lexgraph && install -d -o lexgraph -g lexgraph /data
COPY --from=packages /venv /venv
WORKDIR /app
COPY lexgraph.py ./
COPY runtime runtime
COPY schema schema
COPY citations citations
COPY cypher cypher
COPY ingest ingest
COPY search search
COPY gnn gnn
COPY api api
COPY cli cli
USER lexgraph
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 LEXGRAPH_HOME=/data LEXGRAPH_HOST=0.0.0.0
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=5)"]
ENTRYPOINT ["python", "/app/lexgraph.py"]
CMD ["serve"]
