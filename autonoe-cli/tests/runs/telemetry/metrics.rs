//! Metrics of runs, as a receiver decodes them.

use std::collections::BTreeMap;
use std::time::Instant;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use prost::Message;

use super::receiver::Receiver;
use super::spans::{Attributes, attributes};
use super::{exported, script};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, calls_model, creates, ends, hits_short_quota, sets};

/// One series of a metric: its attributes, the number of measurements, and the sum.
pub(crate) type Series = (Attributes, u64, f64);

/// The metrics of one process, by name.
pub(crate) type Metrics = BTreeMap<String, Vec<Series>>;

/// Returns the metrics of the only exporting process.
pub(super) fn metrics(receiver: &Receiver) -> Metrics {
    let mut processes = metrics_of_processes(receiver);
    let (_, metrics) = processes.pop_first().expect("metrics came");
    assert!(processes.is_empty(), "{processes:?}");
    metrics
}

/// Returns the last metrics of each process, by `service.instance.id`.
pub(crate) fn metrics_of_processes(receiver: &Receiver) -> BTreeMap<Option<String>, Metrics> {
    let mut processes = BTreeMap::new();
    for request in receiver.at("/v1/metrics") {
        let received = ExportMetricsServiceRequest::decode(request.body.as_slice());
        for resource_metrics in received.expect("metrics").resource_metrics {
            let resource = resource_metrics.resource.map(|it| it.attributes);
            let resource = attributes(&resource.unwrap_or_default());
            let scopes = resource_metrics.scope_metrics.into_iter();
            let metrics = scopes
                .flat_map(|scope| scope.metrics)
                .map(|metric| (metric.name, series(metric.data.expect("it has data"))));
            let instance = resource.get("service.instance.id").cloned();
            processes.insert(instance, metrics.collect());
        }
    }
    processes
}

fn series(data: Data) -> Vec<Series> {
    match data {
        Data::Sum(sum) => {
            let points = sum.data_points.iter().map(|point| {
                let value = match point.value.expect("it has a value") {
                    Value::AsDouble(number) => number,
                    Value::AsInt(number) => f64::from(i32::try_from(number).expect("small")),
                };
                (attributes(&point.attributes), 1, value)
            });
            points.collect()
        }
        Data::Histogram(histogram) => {
            let points = histogram.data_points.iter().map(|point| {
                let sum = point.sum.expect("it has a sum");
                (attributes(&point.attributes), point.count, sum)
            });
            points.collect()
        }
        other => panic!("{other:?} is no metric of ours"),
    }
}

/// Sums the series that have this attribute.
pub(crate) fn sum(series: &[Series], name: &str, value: &str) -> f64 {
    let with_it = series
        .iter()
        .filter(|(attributes, ..)| attributes.get(name).is_some_and(|it| it == value));
    with_it.map(|(_, _, sum)| sum).sum()
}

fn assert_approx(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

// Shows: framework/models/export-to-receiver
#[test]
fn a_run_is_measured() {
    let (project, receiver) = (Project::new(), Receiver::start());

    let ended = CommandOutput::run(exported(&project, &script(), &receiver));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let metrics = metrics(&receiver);
    assert_approx(
        sum(
            &metrics["autonoe.sessions"],
            "autonoe.session.end",
            "completed",
        ),
        2.0,
    );
    assert_approx(
        sum(&metrics["autonoe.sessions"], "gen_ai.agent.name", "coding"),
        1.0,
    );
    assert_approx(
        sum(&metrics["autonoe.tool.denied"], "gen_ai.tool.name", "Bash"),
        1.0,
    );
    assert_approx(
        sum(
            &metrics["autonoe.cost"],
            "gen_ai.operation.name",
            "invoke_agent",
        ),
        0.5,
    );
    let tokens = &metrics["gen_ai.client.token.usage"];
    assert_approx(sum(tokens, "gen_ai.token.type", "input"), 10.0);
    assert_approx(sum(tokens, "gen_ai.token.type", "output"), 5.0);
    assert_approx(sum(tokens, "gen_ai.provider.name", "scripted"), 15.0);
    let durations = &metrics["gen_ai.client.operation.duration"];
    for (operation, count) in [("chat", 1), ("invoke_agent", 2), ("execute_tool", 3)] {
        let of_it = durations
            .iter()
            .filter(|(attributes, ..)| attributes["gen_ai.operation.name"] == operation);
        let found: u64 = of_it.map(|(_, count, _)| count).sum();
        assert_eq!(found, count, "{operation}");
    }
    let failed = durations
        .iter()
        .filter(|(attributes, ..)| attributes.contains_key("error.type"));
    assert_eq!(failed.count(), 1, "{durations:?}");
}

#[test]
fn waits_are_measured_by_reason() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let script = Script::new()
        .session([hits_short_quota()])
        .session([calls_model("a-model", "now"), creates(&["DL-001"]), ends()])
        .session([sets("DL-001", "passed"), ends()]);
    let mut command = exported(&project, &script, &receiver);
    command.arg("--wait-for-quota");
    let started_at = Instant::now();

    let ended = CommandOutput::run(command);

    let elapsed = started_at.elapsed().as_secs_f64();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let waits = &metrics(&receiver)["autonoe.wait.duration"];
    let waited = sum(waits, "autonoe.wait.reason", "quota");
    assert!(waited > 0.0 && waited < elapsed, "{waits:?}");
}
