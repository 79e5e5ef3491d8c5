//! Tests of run metrics from events alone.

use std::sync::Arc;

use autonoe_core::agent::{ModelAnswer, ModelCallRequest, ModelMessages};
use autonoe_core::event::{Events, InstructionName};
use autonoe_core::time::{SeededIds, SystemClock};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics};
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{SdkMeterProvider, Temporality};
use serde_json::json;

use super::*;

/// Exporter that sums up all measured tokens, by operation.
#[derive(Clone, Debug, Default)]
struct Tokens(Arc<Mutex<HashMap<String, u64>>>);

impl PushMetricExporter for Tokens {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let mut sums = self.0.lock().expect("nobody panicked");
        sums.clear();
        for metric in metrics.scope_metrics().flat_map(|scope| scope.metrics()) {
            let AggregatedMetrics::U64(MetricData::Histogram(histogram)) = metric.data() else {
                continue;
            };
            for point in histogram.data_points() {
                let mut attributes = point.attributes();
                let operation = attributes.find(|it| it.key.as_str() == "gen_ai.operation.name");
                let operation = operation.expect("it has one").value.to_string();
                *sums.entry(operation).or_default() += point.sum();
            }
        }
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

fn used() -> TokenUsage {
    TokenUsage {
        input: 6,
        output: 4,
        ..TokenUsage::default()
    }
}

/// Returns the counted tokens of a session that used ten, with or without model call events.
fn counted(reports_models: bool) -> HashMap<String, u64> {
    let tokens = Tokens::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(tokens.clone())
        .build();
    let meters: Arc<dyn RunObserver> = Arc::new(RunMeters::new(&provider.meter("test")));
    let events = Events::new(
        vec![meters],
        Arc::new(SystemClock),
        Arc::new(SeededIds::new(1)),
    );
    events.emit(RunEventKind::SessionStarted {
        number: 1,
        instruction: &InstructionName::Coding,
        model: None,
    });
    if reports_models {
        let no_messages = || json!([]);
        let request = ModelCallRequest::new("a-model", ModelMessages::new(0, &no_messages));
        events
            .model_call(&request)
            .ended(&ModelAnswer::new("Done.", used()));
    }
    let mut result = SessionReport::completed();
    result.tokens = used();
    events.emit(RunEventKind::SessionEnded {
        number: 1,
        result: &result,
    });
    provider.force_flush().expect("it is kept");
    let sums = tokens.0.lock().expect("nobody panicked");
    sums.clone()
}

// Shows: framework/models/telemetry-helpers-meters
#[test]
fn tokens_are_counted_once_with_the_call_or_with_the_session() {
    assert_eq!(counted(true), HashMap::from([("chat".to_owned(), 10)]));
    let with_the_session = HashMap::from([("invoke_agent".to_owned(), 10)]);
    assert_eq!(counted(false), with_the_session);
}

#[test]
fn a_clock_that_is_set_back_measures_nothing() {
    let [early, late] = ["2026-01-31T00:00:00Z", "2026-01-31T00:00:02Z"]
        .map(|text| text.parse::<Timestamp>().expect("a time"));

    assert_eq!(between(early, late), Duration::from_secs(2));
    assert_eq!(between(late, early), Duration::ZERO);
}
