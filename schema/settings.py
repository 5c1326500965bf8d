"""Every option of Lexgraph: its type, default, unit and one line of help, from one place.

Values come from the environment (``LEXGRAPH_*``), then from ``lexgraph.toml`` in the working folder, then
from the defaults below. `origins` tells which, for ``lexgraph doctor``.
"""

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from schema.errors import BadSetting

TOML_FILE = Path("lexgraph.toml")
NO_OPTIONS = {"LEXGRAPH_SERVERS", "LEXGRAPH_AKN_DOCUMENTS", "LEXGRAPH_CRON"}
"""Variables of the environment that are no options: of `docker.maven`, of the tests, of the compose file."""
_OF_KUBERNETES = re.compile(r"_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)")
"""What Kubernetes tells every container of a service that is called lexgraph."""


class Settings(BaseSettings):
    """The options of Lexgraph. Each is documented here and nowhere else."""

    model_config = SettingsConfigDict(env_prefix="LEXGRAPH_", toml_file=TOML_FILE, extra="forbid", frozen=True)

    home: Path = Field(Path("lexgraph-data"), description="Folder of the graph, the indexes, the models and the sources.")
    graph: str = Field("", description="Address of a Neo4j server (bolt://… or neo4j://…); empty: the embedded graph.")
    graph_user: str = Field("neo4j", description="User on the Neo4j server.")
    graph_password: SecretStr = Field(SecretStr(""), description="Password on the Neo4j server.")
    graph_database: str = Field("neo4j", description="Database on the Neo4j server.")
    graph_http: str = Field("", description="HTTP address of the Neo4j server, for its Browser; empty: port 7474 of its host.")
    text: str = Field("", description="Address of an Elasticsearch server (http://…); empty: the embedded text index.")
    text_user: str = Field("elastic", description="User on the Elasticsearch server, where it asks for one.")
    text_password: SecretStr = Field(SecretStr(""), description="Password on the Elasticsearch server; empty: none is sent.")
    text_prefix: str = Field(
        "lexgraph", pattern="^[a-z][a-z0-9_-]*$", description="What the names of indexes and aliases on Elasticsearch begin with."
    )
    analysis: Literal["lexgraph", "native"] = Field(
        "lexgraph", description="Analysis on Elasticsearch: the project's own, or the analyzer of the server (native)."
    )
    text_timeout_s: float = Field(10.0, gt=0, description="Time limit of one text query, in seconds.")
    stale_after_days: int = Field(
        30, ge=0, description="Days after which a source counts as stale that was neither loaded nor updated; 0: never."
    )
    models: str = Field("", description="Shared place of model files: a folder or an fsspec address; empty: only under `home`.")
    memory_mb: int = Field(1024, ge=64, description="Buffer pool of the embedded graph, in MiB; a load may take four times that.")
    threads: int = Field(2, ge=1, le=256, description="Threads for encoding and training.")
    recipe: str = Field("muse-diverse", description="Recipe of the model to train: a name under gnn/recipes or a TOML file.")
    rerank: bool = Field(True, description="Rerank the first answers of a hybrid search, where the model has a reranker.")
    gate_metric: Literal["R@100", "R@200", "R@500", "MAP", "MRP", "nDCG@10"] = Field(
        "R@100", description="Measure that a retrained model may not lose, on questions that it has not learnt from."
    )
    gate_significance: float = Field(0.05, gt=0, lt=1, description="Probability, one-sided, below which a loss counts.")
    bm25_k1: float = Field(1.2, gt=0, description="BM25 over articles: saturation of the term frequency (k1).")
    bm25_b: float = Field(0.75, ge=0, le=1, description="BM25 over articles: normalisation by length (b).")
    section_bm25_k1: float = Field(1.5, gt=0, description="BM25 over whole sections: k1.")
    section_bm25_b: float = Field(0.6, ge=0, le=1, description="BM25 over whole sections: b.")
    max_query_characters: int = Field(2000, ge=1, description="Longest query that is answered, in characters.")
    max_page: int = Field(100, ge=1, description="Largest page that the API gives (argument `first`).")
    query_timeout_s: float = Field(10.0, gt=0, description="Time limit of one graph query, in seconds.")
    cypher_max_rows: int = Field(1000, ge=1, description="Most rows that `lexgraph cypher` prints.")
    host: str = Field("127.0.0.1", description="Address that `lexgraph serve` listens on.")
    port: int = Field(8000, ge=0, le=65535, description="Port of `lexgraph serve`; 0 takes a free one.")
    processes: int = Field(1, ge=1, le=64, description="Processes of `lexgraph serve`.")
    concurrent_requests: int = Field(
        2, ge=1, le=256, description="Requests that one process works on at the same time; more where servers are waited for."
    )
    waiting_requests: int = Field(256, ge=0, description="Requests that may wait for that; one more is told to come back.")
    request_timeout_s: float = Field(10.0, gt=0, description="Time limit of one request, waiting included, in seconds.")
    cors_origins: str = Field(
        "", description="Web pages that may ask, as their origins (https://…) with commas between; * for all; empty: none."
    )
    access_log: bool = Field(False, description="Log a line for each request, with its identifier.")
    reload_s: float = Field(2.0, gt=0, description="How often a server looks for a newer graph or model, in seconds.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources by precedence: arguments, environment, ``lexgraph.toml``."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings() -> Settings:
    """Return the settings in force.

    Raises:
        BadSetting: a value does not fit its option, or the file or the environment names an option that does not exist.
    """
    _refuse_unknown(os.environ)
    try:
        return Settings()  # pyright: ignore[reportCallIssue]  # every field has a default
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            name = "_".join(str(part) for part in problem["loc"])
            lines.append(f"{name} (LEXGRAPH_{name.upper()}): {problem['msg']}")
        raise BadSetting("settings: " + "; ".join(lines)) from None
    except ValueError as error:  # the TOML file itself
        raise BadSetting(f"{TOML_FILE}: {error}") from None


def _refuse_unknown(environment: Iterable[str]) -> None:
    """Refuse misspelt options, which would be left out in silence."""
    options = sorted(Settings.model_fields)
    unknown: list[str] = []
    for name in sorted(environment):
        prefix, _, option = name.lower().partition("_")
        if prefix != "lexgraph" or option in options or name in NO_OPTIONS or _OF_KUBERNETES.search(name):
            continue
        near = [f"LEXGRAPH_{found.upper()}" for found in get_close_matches(option, options, n=2, cutoff=0.7)]
        unknown.append(f"Unknown setting {name}" + (f" (did you mean {' or '.join(near)}?)" if near else ""))
    if unknown:
        raise BadSetting("; ".join(unknown) + "; unset it and run `lexgraph doctor` for the list")


def origins(settings: Settings) -> list[tuple[str, str, str, str]]:
    """Return rows (option, value, where it came from, help), for ``lexgraph doctor``."""
    rows = []
    for name, option in Settings.model_fields.items():
        if f"LEXGRAPH_{name.upper()}" in os.environ:
            origin = f"environment LEXGRAPH_{name.upper()}"
        elif name in settings.model_fields_set:
            origin = str(TOML_FILE)
        else:
            origin = "default"
        rows.append((name, _shown(getattr(settings, name)) or "none", origin, option.description or ""))
    return rows


def _shown(value: object) -> str:
    """A value without the user and password that an address may hold."""
    return re.sub(r"(?<=://).*@", "***@", str(value))
