//! Decodes received spans.

use std::collections::BTreeMap;
use std::process::Command;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span as Received;
use prost::Message;

use super::EXPORT_LIMIT;
use super::receiver::{Receiver, Request};
use crate::runs::support::autonoe::CommandOutput;

/// A received span.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for a root span.
    pub(crate) parent: String,
    pub(crate) kind: i32,
    pub(crate) is_error: bool,
    pub(crate) state: String,
    started_at: u64,
    ended_at: u64,
    pub(crate) attributes: Attributes,
    /// The resource attributes of the process that exported the span.
    pub(crate) resource: Attributes,
}

pub(crate) type Attributes = BTreeMap<String, String>;

/// Returns the received spans, sorted by start time.
pub(crate) fn spans(receiver: &Receiver) -> Vec<Span> {
    let mut spans = Vec::new();
    for request in receiver.at("/v1/traces") {
        for resource_spans in decoded(&request).resource_spans {
            let resource = resource_spans.resource.map(|it| it.attributes);
            let resource = attributes(&resource.unwrap_or_default());
            for scope in resource_spans.scope_spans {
                assert_eq!(scope.scope.expect("it has one").name, "autonoe");
                spans.extend(scope.spans.iter().map(|it| span(it, &resource)));
            }
        }
    }
    spans.sort_by_key(|span| (span.started_at, u64::MAX - span.ended_at));
    spans
}

/// Returns the names of the received spans, indented below their parents.
fn tree(receiver: &Receiver) -> Vec<String> {
    fn depth(spans: &[Span], span: &Span) -> usize {
        let parent = spans.iter().find(|other| other.id == span.parent);
        parent.map_or(0, |parent| depth(spans, parent) + 1)
    }
    let spans = spans(receiver);
    let lines = spans
        .iter()
        .map(|span| format!("{}{}", "  ".repeat(depth(&spans, span)), span.name));
    lines.collect()
}

/// Runs a command that succeeds and exports its spans, and returns their tree.
pub(crate) fn exported_tree(mut command: Command) -> Vec<String> {
    let receiver = Receiver::start();
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url())
        .envs([EXPORT_LIMIT]);

    let ended_at = CommandOutput::run(command);

    assert_eq!(ended_at.code, Some(0), "{ended_at:?}");
    tree(&receiver)
}

fn decoded(request: &Request) -> ExportTraceServiceRequest {
    match request.headers["content-type"].as_str() {
        "application/x-protobuf" => {
            ExportTraceServiceRequest::decode(request.body.as_slice()).expect("spans")
        }
        "application/json" => serde_json::from_slice(&request.body).expect("spans"),
        other => panic!("{other} is not what spans come as"),
    }
}

fn span(received: &Received, resource: &Attributes) -> Span {
    assert!(received.end_time_unix_nano >= received.start_time_unix_nano);
    Span {
        name: received.name.clone(),
        trace: hex(&received.trace_id),
        id: hex(&received.span_id),
        parent: hex(&received.parent_span_id),
        kind: received.kind,
        is_error: received
            .status
            .as_ref()
            .is_some_and(|status| status.code == 2),
        state: received.trace_state.clone(),
        started_at: received.start_time_unix_nano,
        ended_at: received.end_time_unix_nano,
        attributes: attributes(&received.attributes),
        resource: resource.clone(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats attributes as text: strings verbatim, other values as JSON.
pub(crate) fn attributes(pairs: &[KeyValue]) -> Attributes {
    let pairs = pairs.iter().map(|pair| {
        let value = pair.value.as_ref().expect("it has a value");
        (pair.key.clone(), text(value))
    });
    pairs.collect()
}

fn text(value: &AnyValue) -> String {
    match value.value.as_ref().expect("it is something") {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        Value::ArrayValue(list) => {
            let values: Vec<_> = list.values.iter().map(text).collect();
            format!("{values:?}")
        }
        other => panic!("{other:?} is in no span of ours"),
    }
}
