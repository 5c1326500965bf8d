"""Figures of a running service, as Prometheus reads them."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from api.workers import Workers

_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_PATHS = frozenset({"/", "/graphql", "/healthz", "/readyz", "/metrics"})
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters of one process; several processes each answer for themselves."""

    def __init__(self, workers: Workers) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "lexgraph_requests_total", "Requests, by path and HTTP status.", ("path", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "lexgraph_request_seconds", "Time to the end of the answer.", ("path",), buckets=_SECONDS, registry=self._registry
        )
        for name, what, read in (
            ("lexgraph_requests_running", "Requests that are worked on.", lambda: workers.running),
            ("lexgraph_requests_waiting", "Requests that wait for a thread.", lambda: workers.waiting),
        ):
            Gauge(name, what, registry=self._registry).set_function(read)
        self._release = Gauge(
            "lexgraph_release", "The law and the model that are served.", ("law", "model"), registry=self._registry
        )

    def note(self, path: str, status: int, took_s: float) -> None:
        """Count a request; paths that nobody serves are one."""
        known = path if path in _PATHS else "other"
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(took_s)

    def text(self, law: str | None, model: str | None) -> bytes:
        """Return all figures in Prometheus' text format.

        Args:
            law: Fingerprint of the law that is served; None where none is.
            model: Identifier of the model that is active.
        """
        self._release.clear()
        if law is not None:
            self._release.labels(law, model or "").set(1)
        return generate_latest(self._registry)
