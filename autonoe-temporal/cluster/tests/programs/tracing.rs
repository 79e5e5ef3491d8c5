//! Spans of the sessions of a run, which continue the trace of the submitter.

#[allow(
    dead_code,
    reason = "this test needs a receiver that accepts everything"
)]
#[path = "../../../../autonoe-cli/tests/runs/telemetry/receiver.rs"]
mod receiver;

use std::collections::BTreeSet;

use autonoe_temporal_support::eventually;
use serde_json::Value;

use self::receiver::Receiver;
use crate::cluster::{Cluster, passes, plans};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// A span as it was exported.
#[derive(Debug)]
struct Span {
    trace: String,
    parent: String,
    name: String,
}

fn spans(receiver: &Receiver) -> Vec<Span> {
    let requests = receiver.at("/v1/traces");
    let bodies = requests.iter().map(|request| -> Value {
        serde_json::from_slice(&request.body).expect("JSON was requested")
    });
    bodies.flat_map(|body| spans_in(&body)).collect()
}

fn spans_in(body: &Value) -> Vec<Span> {
    let items = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let text = |span: &Value, name: &str| span[name].as_str().unwrap_or_default().to_owned();
    let resources = items(body, "resourceSpans").into_iter();
    let scopes = resources.flat_map(|resource| items(&resource, "scopeSpans"));
    let spans = scopes.flat_map(|scope| items(&scope, "spans"));
    spans
        .map(|span| Span {
            trace: text(&span, "traceId"),
            parent: text(&span, "parentSpanId"),
            name: text(&span, "name"),
        })
        .collect()
}

/// Runs two sessions, and returns their spans. `parent` is the `TRACEPARENT` of the submitter.
async fn exported(parent: Option<&str>) -> Vec<Span> {
    let cluster = Cluster::start().await;
    cluster.script(&[plans(), passes()]);
    cluster.shop_on("here");
    let receiver = Receiver::start();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json".to_owned()),
    ];
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let worker = cluster.worker_with_variables("here", &[], &variables);

    let submit = [
        "submit", "shop", "--run", "greeting", "--pause", "0s", "--wait",
    ];
    let mut submit = cluster.command(&submit);
    submit
        .env_remove("TRACEPARENT")
        .envs(parent.map(|parent| ("TRACEPARENT", parent)));
    let submitted = tokio::task::spawn_blocking(move || submit.output().expect("it starts"));
    let submitted = submitted.await.expect("it ends");
    assert!(submitted.status.success(), "{submitted:?}");
    assert_eq!(worker.stop(), Some(0));
    eventually("two sessions are exported", || {
        sessions(&spans(&receiver)) == 2
    })
    .await;
    spans(&receiver)
}

fn sessions(spans: &[Span]) -> usize {
    spans
        .iter()
        .filter(|span| span.name.starts_with("invoke_agent"))
        .count()
}

#[tokio::test]
async fn sessions_continue_the_trace_of_the_submitter() {
    let spans = exported(Some(&format!("00-{TRACE}-{SPAN}-01"))).await;

    assert!(spans.iter().all(|span| span.trace == TRACE), "{spans:#?}");
    let below = spans.iter().filter(|span| span.parent == SPAN).count();
    assert_eq!(below, 2, "{spans:#?}");
}

#[tokio::test]
async fn without_a_trace_of_the_submitter_all_sessions_share_one() {
    let spans = exported(None).await;

    let traces: BTreeSet<_> = spans.iter().map(|span| span.trace.as_str()).collect();
    assert_eq!(traces.len(), 1, "{spans:#?}");
}
