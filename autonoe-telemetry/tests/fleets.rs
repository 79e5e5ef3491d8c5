//! Tests of exported spans and metrics of fleets.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use autonoe_core::RunControl;
use autonoe_core::engine::{JobContext, JobRunner, LocalEngine, RunOutcome, RunSpec};
use autonoe_core::event::{Failure, TraceContext};
use autonoe_core::time::SeededIds;
use autonoe_harness::coordinate::{MemberJob, MemberSpec};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{Coordinator, FleetSpans, Parallel};
use autonoe_telemetry::{FleetMeters, SpanExportLayer};
use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::Status;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SimpleSpanProcessor, SpanData};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;

/// Members that request their trace context, as their processes do, and then behave as their work
/// says.
struct Members {
    spans: Arc<FleetSpans>,
    contexts: Arc<Mutex<HashMap<String, TraceContext>>>,
}

#[async_trait::async_trait]
impl JobRunner for Members {
    async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
        let job = MemberJob::from_run(run).expect("a member");
        let context = self.spans.member(&job.member);
        let mut contexts = self.contexts.lock().expect("no panic");
        contexts.insert(job.member.to_string(), context);
        match job.work.as_str() {
            Some("fail") => RunOutcome::failed(Failure::permanent("broken", "a private reason")),
            _ => RunOutcome::succeeded(job.work),
        }
    }
}

fn attribute(span: &SpanData, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|it| it.key.as_str() == name);
    found.map(|it| it.value.to_string())
}

/// Runs a fleet of two members, one of which fails. Returns its spans by name, and the contexts of
/// the members.
async fn fleet(
    parent: Option<TraceContext>,
    meters: FleetMeters,
) -> (BTreeMap<String, SpanData>, HashMap<String, TraceContext>) {
    let exporter = InMemorySpanExporter::default();
    let layer = SpanExportLayer::new(SimpleSpanProcessor::new(exporter.clone()), parent.as_ref());
    let layer = layer.with_filter(SpanExportLayer::filter());
    let _default = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let spans = Arc::new(FleetSpans::new(SeededIds::new(1), parent));
    let contexts = Arc::new(Mutex::default());
    let engine = LocalEngine::new(Members {
        spans: spans.clone(),
        contexts: contexts.clone(),
    });
    let member = |name: &str, work: &str| MemberSpec::new(MemberId::new(name), "work", work.into());

    let report = Coordinator::new("shop", engine, Parallel {})
        .members([member("good", "done"), member("bad", "fail")])
        .observer(spans.clone())
        .observer(meters)
        .run(&RunControl::new())
        .await
        .expect("it runs");
    spans.close();

    assert!(!report.success);
    let exported = exporter.get_finished_spans().expect("it is in memory");
    assert_eq!(exported.len(), 3, "{exported:?}");
    let named = exported
        .into_iter()
        .map(|span| (span.name.to_string(), span));
    let contexts = contexts.lock().expect("no panic").clone();
    (named.collect(), contexts)
}

fn no_meters() -> FleetMeters {
    FleetMeters::new(&SdkMeterProvider::default().meter("test"))
}

// Shows: framework/models/telemetry-helpers-spans
#[tokio::test]
async fn a_fleet_is_exported_as_one_tree_with_the_contexts_of_its_members() {
    let (spans, contexts) = fleet(None, no_meters()).await;

    let root = &spans["invoke_workflow shop"];
    assert_eq!(root.parent_span_id, opentelemetry::trace::SpanId::INVALID);
    assert_eq!(
        attribute(root, "autonoe.fleet.strategy").as_deref(),
        Some("parallel")
    );
    for (name, outcome, status) in [
        ("good", "succeeded", Status::Unset),
        ("bad", "failed", Status::error("")),
    ] {
        let span = &spans[&format!("invoke_agent {name}")];
        assert_eq!(span.parent_span_id, root.span_context.span_id());
        let traceparent = contexts[name].traceparent();
        let (trace, id) = (span.span_context.trace_id(), span.span_context.span_id());
        assert_eq!(traceparent, format!("00-{trace}-{id}-01"));
        assert_eq!(trace, root.span_context.trace_id());
        assert_eq!(
            attribute(span, "autonoe.member.outcome").as_deref(),
            Some(outcome)
        );
        assert_eq!(
            attribute(span, "autonoe.run.id"),
            Some(format!("shop.{name}"))
        );
        assert_eq!(span.status, status);
        assert!(!format!("{span:?}").contains("private"), "{span:?}");
    }
}

#[tokio::test]
async fn a_fleet_continues_the_trace_that_it_was_started_in() {
    let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    let parent = TraceContext::parse(text, Some("vendor=1")).expect("a context");

    let (spans, contexts) = fleet(Some(parent.clone()), no_meters()).await;

    let root = &spans["invoke_workflow shop"];
    assert_eq!(root.parent_span_id.to_string(), "b7ad6b7169203331");
    assert!(root.parent_span_is_remote);
    for context in contexts.values() {
        assert_eq!(context.trace(), parent.trace());
        assert_eq!(context.tracestate(), Some("vendor=1"));
        assert!(!context.is_sampled(), "{context:?}");
    }
}

// Shows: framework/models/telemetry-helpers-meters
#[tokio::test]
async fn members_are_counted_by_outcome() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(exporter.clone())
        .build();

    fleet(None, FleetMeters::new(&provider.meter("test"))).await;

    provider.force_flush().expect("it is in memory");
    let exported = exporter.get_finished_metrics().expect("it is in memory");
    let last = exported.last().expect("metrics");
    let metrics: Vec<_> = last.scope_metrics().flat_map(|it| it.metrics()).collect();
    let mut counted = BTreeMap::new();
    let mut measured = 0;
    for metric in metrics {
        match (metric.name(), metric.data()) {
            ("autonoe.members", AggregatedMetrics::U64(MetricData::Sum(sum))) => {
                for point in sum.data_points() {
                    let outcome = point.attributes().next().expect("an outcome");
                    counted.insert(outcome.value.to_string(), point.value());
                }
            }
            ("autonoe.member.duration", AggregatedMetrics::F64(MetricData::Histogram(it))) => {
                measured += it.data_points().map(|point| point.count()).sum::<u64>();
            }
            other => panic!("{other:?}"),
        }
    }
    let expected = [("failed".to_owned(), 1), ("succeeded".to_owned(), 1)];
    assert_eq!(counted, BTreeMap::from(expected));
    assert_eq!(measured, 2);
}
