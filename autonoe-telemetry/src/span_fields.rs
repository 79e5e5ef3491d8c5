//! Conversion of the fields of a `tracing` span into an OpenTelemetry span.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use tracing::field::{Field, Visit};

/// Field with a JSON list as text. `tracing` has no list values.
const LIST: &str = "gen_ai.response.finish_reasons";

/// The fields of an open span.
#[derive(Debug)]
pub(super) struct SpanFields {
    started: SystemTime,
    values: BTreeMap<&'static str, Value>,
}

/// Data shared by all spans of a run.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) scope: InstrumentationScope,
    /// Trace state of the trace that the run is part of, with the data of vendors.
    pub(super) state: TraceState,
    /// Parent span in another process, if any.
    pub(super) remote_parent: Option<SpanId>,
}

impl SpanFields {
    pub(super) fn new(started: SystemTime) -> Self {
        Self {
            started,
            values: BTreeMap::new(),
        }
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.values.remove(name)? {
            Value::String(text) => Some(text.into()),
            _ => None,
        }
    }

    /// Builds the exported span, or returns `None` for a span without trace and span IDs.
    pub(super) fn end(mut self, ended: SystemTime, common: &Common) -> Option<SpanData> {
        let trace = TraceId::from_hex(&self.text("trace_id")?).ok()?;
        let span = SpanId::from_hex(&self.text("span_id")?).ok()?;
        let parent = self.text("parent_span_id");
        let parent = parent.map_or(Some(SpanId::INVALID), |id| SpanId::from_hex(&id).ok())?;
        let name = self.text("otel.name")?;
        let span_kind = match self.text("otel.kind").as_deref() {
            Some("client") => SpanKind::Client,
            _ => SpanKind::Internal,
        };
        let status = match self.text("otel.status_code").as_deref() {
            Some("ERROR") => Status::error(""),
            _ => Status::Unset,
        };
        if let Some(list) = self.values.get_mut(LIST) {
            as_list(list);
        }
        let attributes = self.values.into_iter();
        let flags = TraceFlags::SAMPLED;
        Some(SpanData {
            span_context: SpanContext::new(trace, span, flags, false, common.state.clone()),
            parent_span_id: parent,
            parent_span_is_remote: common.remote_parent == Some(parent),
            span_kind,
            name: name.into(),
            start_time: self.started,
            end_time: ended,
            attributes: attributes
                .map(|(name, value)| KeyValue::new(name, value))
                .collect(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status,
            instrumentation_scope: common.scope.clone(),
        })
    }
}

fn as_list(value: &mut Value) {
    let list = serde_json::from_str::<Vec<String>>(&value.as_str());
    if let Ok(list) = list {
        let list = list.into_iter().map(StringValue::from).collect();
        *value = Value::Array(Array::String(list));
    }
}

impl Visit for SpanFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.values.insert(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.values.insert(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        // OpenTelemetry integers are signed 64-bit numbers.
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.values.insert(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.values.insert(field.name(), value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.values.insert(field.name(), value.to_owned().into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.values
            .insert(field.name(), format!("{value:?}").into());
    }
}
