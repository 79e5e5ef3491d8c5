//! Metrics as they were received.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use prost::Message;

use super::receiver::Receiver;
use super::spans::{Attributes, attributes};

/// One series of a metric: its attributes, how often it was measured, and the sum.
pub(super) type Series = (Attributes, u64, f64);

/// Returns the metrics that came last, by name.
pub(super) fn metrics(receiver: &Receiver) -> BTreeMap<String, Vec<Series>> {
    let requests = receiver.at("/v1/metrics");
    let last = requests.last().expect("metrics came");
    let last = ExportMetricsServiceRequest::decode(last.body.as_slice()).expect("metrics");
    let metrics = last
        .resource_metrics
        .into_iter()
        .flat_map(|resource| resource.scope_metrics)
        .flat_map(|scope| scope.metrics);
    metrics
        .map(|metric| (metric.name, series(metric.data.expect("it has data"))))
        .collect()
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

/// Adds up the sums of the series that have this attribute.
pub(super) fn sum(series: &[Series], name: &str, value: &str) -> f64 {
    let with_it = series
        .iter()
        .filter(|(attributes, ..)| attributes.get(name).is_some_and(|it| it == value));
    with_it.map(|(_, _, sum)| sum).sum()
}
