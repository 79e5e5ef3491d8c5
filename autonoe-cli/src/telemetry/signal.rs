//! Traces and metrics: the kinds of things that are exported.

use opentelemetry_otlp::Protocol;

/// A kind of thing that is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Traces,
    Metrics,
}

impl Signal {
    /// Returns its name in variables.
    fn in_variables(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        }
    }

    /// Returns where it goes at a receiver of everything.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
        }
    }

    /// Returns the variable that says who exports it.
    pub(super) fn exporter_variable(self) -> String {
        format!("OTEL_{}_EXPORTER", self.in_variables())
    }

    /// Returns the variables of its own and of all signals that say `what`; the first one wins.
    pub(super) fn variables(self, what: &str) -> [String; 2] {
        [
            format!("OTEL_EXPORTER_OTLP_{}_{what}", self.in_variables()),
            format!("OTEL_EXPORTER_OTLP_{what}"),
        ]
    }
}

/// Reads a protocol as variables spell it.
pub(super) fn protocol(text: &str) -> Option<Protocol> {
    match text {
        "http/protobuf" => Some(Protocol::HttpBinary),
        "http/json" => Some(Protocol::HttpJson),
        _ => None,
    }
}
