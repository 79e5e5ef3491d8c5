//! [`ExportErrors`], which collects the errors of telemetry exports to report them once.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::sync::Arc;
use std::time::Duration;

/// Export errors.
#[derive(Debug, Default)]
pub(super) struct ExportErrors(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The reason of the last failed request.
    reason: Option<String>,
    /// Spans that were not exported, and are lost.
    lost_spans: usize,
    /// Whether the last export of metrics failed. Metrics are cumulative, so the next export makes
    /// up for it.
    is_metrics_behind: bool,
}

impl ExportErrors {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records why a request failed. It may still be retried.
    pub(super) fn record(&self, reason: String) {
        self.state().reason = Some(reason);
    }

    /// Returns what was not exported and why, if anything.
    pub(super) fn message(&self) -> Option<String> {
        let state = self.state();
        let loss = match (state.lost_spans, state.is_metrics_behind) {
            (0, false) => return None,
            (0, true) => "the metrics were not exported".to_owned(),
            (spans, false) => format!("{spans} spans were not exported"),
            (spans, true) => format!("{spans} spans and the metrics were not exported"),
        };
        Some(match &state.reason {
            Some(reason) => format!("telemetry: {loss}: {reason}"),
            None => format!("telemetry: {loss}"),
        })
    }
}

/// An exporter whose failures are recorded.
pub(super) struct RecordingExporter<E> {
    pub(super) exporter: E,
    pub(super) recent_errors: Arc<ExportErrors>,
}

impl<E> fmt::Debug for RecordingExporter<E> {
    // Exporters print their headers, which are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingExporter").finish_non_exhaustive()
    }
}

impl<E: SpanExporter> SpanExporter for RecordingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let exported = self.exporter.export(batch).await;
        if exported.is_err() {
            self.recent_errors.state().lost_spans += count;
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: PushMetricExporter> PushMetricExporter for RecordingExporter<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let exported = self.exporter.export(metrics).await;
        self.recent_errors.state().is_metrics_behind = exported.is_err();
        exported
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_losses_are_reported() {
        let recent_errors = ExportErrors::default();
        recent_errors.record("nobody is there".to_owned());
        assert_eq!(
            recent_errors.message(),
            None,
            "the next try may have succeeded"
        );

        recent_errors.state().lost_spans = 3;
        recent_errors.state().is_metrics_behind = true;

        let expected = "telemetry: 3 spans and the metrics were not exported: nobody is there";
        assert_eq!(recent_errors.message().as_deref(), Some(expected));
    }
}
