//! Spans of runs, on their way out.

use std::sync::Arc;
use std::time::SystemTime;

use opentelemetry_sdk::trace::SpanProcessor;
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::span_fields::{Common, SpanFields};

/// Exports the spans that core opens for runs, with the ids that core gave them.
///
/// Those ids are handed on to other processes, so the spans must have them: a tracer that makes
/// ids of its own would leave what those processes export without a parent.
#[derive(Clone, Debug)]
pub(crate) struct SpanLayer {
    pub(super) processor: Arc<dyn SpanProcessor>,
    pub(super) common: Common,
}

impl SpanLayer {
    /// Returns the filter for the spans that it is for.
    pub(crate) fn filter() -> FilterFn {
        FilterFn::new(is_of_run as fn(&Metadata<'_>) -> bool).with_max_level_hint(Level::INFO)
    }
}

fn is_of_run(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == autonoe_core::SPAN_TARGET
}

impl<S> Layer<S> for SpanLayer
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
