//! The instruments, by the names of the conventions where there are any.

use opentelemetry::metrics::{Counter, Histogram, Meter};

/// What is counted and measured.
#[derive(Debug)]
pub(super) struct Instruments {
    pub(super) sessions: Counter<u64>,
    pub(super) blocked: Counter<u64>,
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
                .with_description("Sessions that ended, by how they ended")
                .build(),
            blocked: meter
                .u64_counter("autonoe.tool.blocked")
                .with_unit("{call}")
                .with_description("Tool calls that were refused")
                .build(),
            cost: meter
                .f64_counter("autonoe.cost")
                .with_unit("{USD}")
                .with_description("What sessions cost, as far as it is known")
                .build(),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_description("Number of input and output tokens used")
                // As the conventions advise: powers of four.
                .with_boundaries((0..14).map(|power| 4_f64.powi(power)).collect())
                .build(),
            durations: meter
                .f64_histogram("gen_ai.client.operation.duration")
                .with_unit("s")
                .with_description("GenAI operation duration")
                // As the conventions advise, and on to the lengths of sessions.
                .with_boundaries((0..20).map(|power| 0.01 * 2_f64.powi(power)).collect())
                .build(),
            waits: meter
                .f64_histogram("autonoe.wait.duration")
                .with_unit("s")
                .with_description("How long runs waited, by what for")
                .with_boundaries(vec![1.0, 5.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 18_000.0])
                .build(),
        }
    }
}
