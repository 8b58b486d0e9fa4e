//! Counts and latencies of requests by route, method and status class, each looked up once and then kept: measuring a
//! request allocates nothing.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use metrics::{Counter, Histogram};

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "DELETE", "other"];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The metrics of every known route; what is asked elsewhere counts as `other`, so that nobody can invent series.
pub struct RequestMetrics {
    routes: HashMap<String, RouteMetrics>,
    other: RouteMetrics,
    shed: OnceLock<Counter>,
}

impl RequestMetrics {
    /// Metrics for these route patterns.
    pub fn new(routes: impl IntoIterator<Item = String>) -> Self {
        let routes = routes.into_iter().map(|route| (route.clone(), RouteMetrics::new(route))).collect();
        Self { routes, other: RouteMetrics::new("other".to_owned()), shed: OnceLock::new() }
    }

    /// The metrics of a matched route.
    pub(crate) fn of(&self, route: Option<&str>) -> &RouteMetrics {
        route.and_then(|route| self.routes.get(route)).unwrap_or(&self.other)
    }

    /// Counts a request shed because too many were in flight.
    pub(crate) fn shed(&self) {
        self.shed.get_or_init(shed_counter).increment(1);
    }
}

/// Counts requests that were shed.
pub(crate) fn shed_counter() -> Counter {
    metrics::counter!("madang_http_shed_total")
}

/// The metrics of one route.
pub(crate) struct RouteMetrics {
    route: String,
    cells: [MethodMetrics; METHODS.len()],
}

#[derive(Default)]
struct MethodMetrics {
    requests: [OnceLock<Counter>; CLASSES.len()],
    seconds: OnceLock<Histogram>,
}

impl RouteMetrics {
    fn new(route: String) -> Self {
        Self { route, cells: Default::default() }
    }

    /// The pattern of the route.
    pub(crate) fn route(&self) -> &str {
        &self.route
    }

    /// Records an answer. Handles are fetched at their first use: a route never asked for makes no series.
    pub(crate) fn record(&self, method: &Method, status: StatusCode, took: Duration) {
        let method = method_index(method);
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        let cell = &self.cells[method];
        let requests = cell.requests[class].get_or_init(|| {
            let route = self.route.clone();
            metrics::counter!("madang_http_requests_total",
                "route" => route, "method" => METHODS[method], "status" => CLASSES[class])
        });
        requests.increment(1);
        let seconds = cell.seconds.get_or_init(|| {
            let route = self.route.clone();
            metrics::histogram!("madang_http_request_seconds", "route" => route, "method" => METHODS[method])
        });
        seconds.record(took.as_secs_f64());
    }
}

fn method_index(method: &Method) -> usize {
    match *method {
        Method::GET | Method::HEAD => 0,
        Method::POST => 1,
        Method::PUT => 2,
        Method::DELETE => 3,
        _ => METHODS.len() - 1,
    }
}
