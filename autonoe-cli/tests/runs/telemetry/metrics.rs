//! Decodes received metrics.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use prost::Message;

use super::receiver::Receiver;
use super::spans::{Attributes, attributes};

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
