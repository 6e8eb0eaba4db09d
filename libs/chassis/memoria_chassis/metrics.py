"""Counts and durations for Prometheus. Labels are names of ours: methods, kinds, apps. Never content."""

from prometheus_client import Counter, Histogram

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.8, 1.2, 2.5, 5.0, 10.0, 30.0)

_rpcs = Counter("memoria_rpc_requests", "Requests served, by method and outcome.", ["method", "kind"])
_rpc_seconds = Histogram("memoria_rpc_seconds", "Time to serve a request.", ["method"], buckets=_BUCKETS)
_pages = Counter("memoria_http_requests", "Pages and API calls served, by route and status.", ["route", "status"])
_page_seconds = Histogram("memoria_http_seconds", "Time to serve a page.", ["route"], buckets=_BUCKETS)
_sibling = Counter("memoria_sibling_calls", "Calls to siblings, by app, call and outcome.", ["app", "call", "kind"])
_sibling_seconds = Histogram("memoria_sibling_seconds", "Time a sibling took.", ["app", "call"], buckets=_BUCKETS)

_sign_in_classes = Counter("memoria_sign_in_classes", "Admitted sign-in requests looked at, by class.", ["class"])


def observe_rpc(method: str, kind: str, seconds: float) -> None:
    """One RPC was served."""
    _rpcs.labels(method, kind).inc()
    _rpc_seconds.labels(method).observe(seconds)


def observe_page(route: str, status: int, seconds: float) -> None:
    """One HTTP request was served. `route` is the route's pattern, never the path asked for."""
    _pages.labels(route, str(status)).inc()
    _page_seconds.labels(route).observe(seconds)


def observe_sibling(app: str, call: str, kind: str, seconds: float) -> None:
    """One call to a sibling ended."""
    _sibling.labels(app, call, kind).inc()
    _sibling_seconds.labels(app, call).observe(seconds)


def observe_sign_in_class(found: str) -> None:
    """The classifier looked at an admitted address."""
    _sign_in_classes.labels(found).inc()
