# Ingests, trains and retrains: docker build -f docker/trainer.Dockerfile -t lexgraph-trainer .
# On Linux the wheels of torch bring CUDA's libraries with them, so the image needs the driver of its host only
# (docker run --gpus all, or compose.gpu.yaml) and trains on the processor where there is none.
FROM python:3.11-slim AS packages
RUN pip install --no-cache-dir 'uv>=0.5,<1' && uv venv /venv
WORKDIR /build
COPY pyproject.toml requirements.lock ./
RUN uv pip install --python /venv/bin/python --no-cache --constraint requirements.lock \
    -r pyproject.toml --extra train --extra servers --extra npm

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
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 LEXGRAPH_HOME=/data
VOLUME /data
ENTRYPOINT ["python", "/app/lexgraph.py"]
CMD ["retrain"]
