//! Telemetry settings of sessions.

use std::sync::Arc;

use autonoe_core::event::TraceContext;
use autonoe_core::run::{SessionRunnerBuilder, TraceContent};
use autonoe_telemetry::RunMeters;
use opentelemetry::metrics::Meter;

/// Telemetry settings of sessions: the meter, and whether spans carry content.
#[derive(Clone, Default)]
pub struct SessionTelemetry {
    pub(super) meter: Option<Meter>,
    pub(super) content: TraceContent,
}

impl SessionTelemetry {
    /// Applies the settings to sessions below `parent`. Each call adds its own observer, so that
    /// sessions of several builders can run at the same time.
    pub fn apply(
        &self,
        builder: SessionRunnerBuilder,
        parent: Option<TraceContext>,
    ) -> SessionRunnerBuilder {
        let builder = builder.trace_content(self.content);
        let builder = match parent {
            Some(parent) => builder.trace(parent),
            None => builder,
        };
        match &self.meter {
            Some(meter) => builder.observer(Arc::new(RunMeters::new(meter))),
            None => builder,
        }
    }
}
