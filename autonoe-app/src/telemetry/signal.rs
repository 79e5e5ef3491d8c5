//! [`Signal`]: traces or metrics.

use opentelemetry_otlp::Protocol;

/// A kind of exported telemetry.
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

    /// Returns its path at a receiver of all signals.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
        }
    }

    /// Returns the variable that selects its exporter.
    pub(super) fn exporter_variable(self) -> String {
        format!("OTEL_{}_EXPORTER", self.in_variables())
    }

    /// Returns the variables of `what` for this signal and for all signals; the first one takes
    /// precedence.
    pub(super) fn variables(self, what: &str) -> [String; 2] {
        [
            format!("OTEL_EXPORTER_OTLP_{}_{what}", self.in_variables()),
            format!("OTEL_EXPORTER_OTLP_{what}"),
        ]
    }
}

/// Parses a protocol, as variables spell it.
pub(super) fn protocol(text: &str) -> Option<Protocol> {
    match text {
        "http/protobuf" => Some(Protocol::HttpBinary),
        "http/json" => Some(Protocol::HttpJson),
        _ => None,
    }
}
