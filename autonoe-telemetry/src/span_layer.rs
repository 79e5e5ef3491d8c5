//! [`SpanExportLayer`]: `tracing` layer that exports the spans of runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use autonoe_core::event::TraceContext;
use opentelemetry::InstrumentationScope;
use opentelemetry::trace::{SpanId, TraceState};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::SpanProcessor;
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::span_fields::{Common, SpanFields};

/// Exports the spans that Autonoe opens under [`SPAN_TARGET`](autonoe_core::run::SPAN_TARGET), with the ids
/// that Autonoe gave them.
///
/// Autonoe passes those ids on to other processes. A tracer that generates its own ids would leave the
/// spans of those processes without a parent.
#[derive(Clone, Debug)]
pub struct SpanExportLayer {
    processor: Arc<dyn SpanProcessor>,
    common: Common,
}

impl SpanExportLayer {
    /// Exports through `processor`. `parent` is the context that the caller passed to
    /// [`SessionRunnerBuilder::trace`](autonoe_core::run::SessionRunnerBuilder::trace), if any: its state
    /// is exported with each span.
    pub fn new(processor: impl SpanProcessor + 'static, parent: Option<&TraceContext>) -> Self {
        let state = parent.and_then(TraceContext::tracestate);
        let state = state.and_then(|state| state.parse().ok());
        let scope = InstrumentationScope::builder("autonoe")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build();
        Self {
            processor: Arc::new(processor),
            common: Common {
                scope,
                state: state.unwrap_or(TraceState::NONE),
                remote_parent: parent.map(|parent| SpanId::from(parent.span().0)),
            },
        }
    }

    /// Returns the filter for the spans that this layer exports.
    pub fn filter() -> FilterFn {
        FilterFn::new(is_of_run as fn(&Metadata<'_>) -> bool).with_max_level_hint(Level::INFO)
    }

    /// Exports the spans that are queued and shuts the processor down.
    ///
    /// # Errors
    ///
    /// As [`SpanProcessor::shutdown_with_timeout`].
    pub fn shutdown(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }
}

fn is_of_run(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == autonoe_core::run::SPAN_TARGET
}

impl<S> Layer<S> for SpanExportLayer
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = SpanFields::new(SystemTime::now());
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<SpanFields>() {
            values.record(fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let fields = span.extensions_mut().remove::<SpanFields>();
        let ended = fields.and_then(|fields| fields.end(SystemTime::now(), &self.common));
        if let Some(ended) = ended {
            self.processor.on_end(ended);
        }
    }
}
