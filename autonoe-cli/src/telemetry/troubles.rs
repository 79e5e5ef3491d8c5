//! What went wrong with exports, to be told once.

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

/// What went wrong with exports.
#[derive(Debug, Default)]
pub(super) struct Troubles(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Why the last request failed that did.
    reason: Option<String>,
    /// Spans that nobody took are lost.
    lost_spans: usize,
    /// Metrics are sums since the start: the next export makes good for one that failed.
    is_metrics_behind: bool,
}

impl Troubles {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes why a request failed. It may still be repeated.
    pub(super) fn failed(&self, reason: String) {
        self.state().reason = Some(reason);
    }

    /// Says what was not exported, and why, if anything was not.
    pub(super) fn told(&self) -> Option<String> {
        let state = self.state();
        let what = match (state.lost_spans, state.is_metrics_behind) {
            (0, false) => return None,
            (0, true) => "the metrics were not exported".to_owned(),
            (spans, false) => format!("{spans} spans were not exported"),
            (spans, true) => format!("{spans} spans and the metrics were not exported"),
        };
        Some(match &state.reason {
            Some(reason) => format!("telemetry: {what}: {reason}"),
            None => format!("telemetry: {what}"),
        })
    }
}

/// An exporter whose failures are noted.
pub(super) struct Watched<E> {
    pub(super) exporter: E,
    pub(super) troubles: Arc<Troubles>,
}

impl<E> fmt::Debug for Watched<E> {
    // Exporters show their headers, which are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let exported = self.exporter.export(batch).await;
        if exported.is_err() {
            self.troubles.state().lost_spans += count;
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

impl<E: PushMetricExporter> PushMetricExporter for Watched<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let exported = self.exporter.export(metrics).await;
        self.troubles.state().is_metrics_behind = exported.is_err();
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
    fn only_what_was_lost_is_told() {
        let troubles = Troubles::default();
        troubles.failed("nobody is there".to_owned());
        assert_eq!(troubles.told(), None, "the next try may have succeeded");

        troubles.state().lost_spans = 3;
        troubles.state().is_metrics_behind = true;

        let told = "telemetry: 3 spans and the metrics were not exported: nobody is there";
        assert_eq!(troubles.told().as_deref(), Some(told));
    }
}
