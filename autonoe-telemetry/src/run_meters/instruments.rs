//! Instruments of runs, named after the OpenTelemetry conventions where these define a name.

use opentelemetry::metrics::{Counter, Histogram, Meter};

/// Counters and histograms of runs.
#[derive(Debug)]
pub(super) struct Instruments {
    pub(super) sessions: Counter<u64>,
    pub(super) denied: Counter<u64>,
    pub(super) cost: Counter<f64>,
    pub(super) tokens: Histogram<u64>,
    pub(super) durations: Histogram<f64>,
    pub(super) waits: Histogram<f64>,
}

impl Instruments {
    pub(super) fn new(meter: &Meter) -> Self {
        Self {
            sessions: meter
                .u64_counter("autonoe.sessions")
                .with_unit("{session}")
                .with_description("Ended sessions, by outcome")
                .build(),
            denied: meter
                .u64_counter("autonoe.tool.denied")
                .with_unit("{call}")
                .with_description("Denied tool calls")
                .build(),
            cost: meter
                .f64_counter("autonoe.cost")
                .with_unit("{USD}")
                .with_description("Known cost of sessions")
                .build(),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_description("Number of input and output tokens used")
                // Recommended by the conventions: powers of four.
                .with_boundaries((0..14).map(|power| 4_f64.powi(power)).collect())
                .build(),
            durations: meter
                .f64_histogram("gen_ai.client.operation.duration")
                .with_unit("s")
                .with_description("GenAI operation duration")
                // Recommended by the conventions, extended to the durations of sessions.
                .with_boundaries((0..20).map(|power| 0.01 * 2_f64.powi(power)).collect())
                .build(),
            waits: meter
                .f64_histogram("autonoe.wait.duration")
                .with_unit("s")
                .with_description("Time that runs waited, by reason")
                .with_boundaries(vec![1.0, 5.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 18_000.0])
                .build(),
        }
    }
}
