//! From a run to its receivers.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use autonoe_core::{TraceContent, TraceContext};
use autonoe_telemetry::{FleetMeters, SpanExportLayer};
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanExporter as _};

use super::sender::Sender;
use super::settings::{Receiver, Said, Settings};
use super::troubles::{Troubles, Watched};
use super::{SessionTelemetry, TelemetrySection};
use crate::surroundings::Surroundings;

/// How often a request is repeated. Not more, so that nobody at the end of a run waits for a
/// receiver that is not there.
const REPEATS: usize = 2;

const SCOPE: &str = "autonoe";

/// Exports what happens in a run. By default it exports nothing.
#[derive(Default)]
pub(crate) struct Telemetry {
    spans: Option<SpanExportLayer>,
    metrics: Option<SdkMeterProvider>,
    content: TraceContent,
    announced: Vec<String>,
    /// How long the end of a run waits for the last exports.
    end_limit: Duration,
    troubles: Arc<Troubles>,
}

impl Telemetry {
    /// Begins what variables and `section` ask for; below `parent` if that trace is recorded.
    ///
    /// `instance` identifies this process among those that export metrics for the same service at the
    /// same time.
    ///
    /// # Errors
    ///
    /// They ask for something that cannot be done, in words for a person.
    pub(crate) fn start(
        section: &TelemetrySection,
        project: &Path,
        surroundings: &Surroundings,
        parent: Option<&TraceContext>,
        instance: Option<String>,
    ) -> Result<Self, String> {
        let settings = Settings::of(Said {
            environment: &surroundings.environment,
            section,
            folder: project,
        })?;
        match settings {
            None => Ok(Self::default()),
            Some(settings) => Self::begin(settings, parent, instance),
        }
    }

    fn begin(
        settings: Settings,
        parent: Option<&TraceContext>,
        instance: Option<String>,
    ) -> Result<Self, String> {
        let troubles = Arc::new(Troubles::default());
        let sender = Sender::start(settings.is_encrypted(), troubles.clone())
            .map_err(|error| format!("nothing can be sent: {error}"))?;
        let way = WayOut {
            sender,
            troubles: troubles.clone(),
            resource: resource(settings.service_name, instance),
        };
        // Whoever began the trace decides whether it is recorded.
        let is_recorded = parent.is_none_or(TraceContext::is_sampled);
        let traces = settings.traces.filter(|_| is_recorded);
        let spans = traces.map(|receiver| way.spans(receiver, parent));
        let metrics = settings.metrics.map(|receiver| way.metrics(receiver));
        let said = |error: ExporterBuildError| error.to_string();
        Ok(Self {
            spans: spans.transpose().map_err(said)?,
            metrics: metrics.transpose().map_err(said)?,
            content: settings.content,
            announced: settings.announced,
            end_limit: settings.end_limit,
            troubles,
        })
    }

    /// Returns what exports spans, for the subscriber of the process.
    pub(crate) fn spans(&self) -> Option<SpanExportLayer> {
        self.spans.clone()
    }

    /// Returns the settings of sessions.
    pub(crate) fn sessions(&self) -> SessionTelemetry {
        SessionTelemetry {
            meter: self.meter(),
            content: self.content,
        }
    }

    /// Returns the observer that measures a fleet.
    pub(crate) fn fleet_meters(&self) -> Option<FleetMeters> {
        self.meter().map(|meter| FleetMeters::new(&meter))
    }

    fn meter(&self) -> Option<Meter> {
        let metrics = self.metrics.as_ref()?;
        Some(metrics.meter_with_scope(scope()))
    }

    /// Returns what a person should know before the run begins: what a file of the project sends
    /// away.
    pub(crate) fn announced(&self) -> &[String] {
        &self.announced
    }

    /// Exports the rest within the time limit of the settings, and returns what was not exported, if
    /// anything was not.
    pub(crate) fn finish(self) -> Option<String> {
        let limit = self.end_limit;
        self.finish_within(limit)
    }

    /// Exports the rest within `limit` or the time limit of the settings, whichever is shorter.
    pub(crate) fn finish_within(self, limit: Duration) -> Option<String> {
        let limit = limit.min(self.end_limit);
        let mut ends: Vec<Box<dyn FnOnce() -> OTelSdkResult + Send>> = Vec::new();
        if let Some(spans) = self.spans {
            ends.push(Box::new(move || spans.shutdown(limit)));
        }
        if let Some(metrics) = self.metrics {
            ends.push(Box::new(move || {
                let flushed = metrics.force_flush();
                // `shutdown` gives up after five seconds, and a drop would export again.
                std::mem::forget(metrics);
                flushed
            }));
        }
        let ended = at_once(ends, limit);
        let told = self.troubles.told();
        match ended {
            Ended::InTime => told,
            Ended::Failed => told.or_else(|| Some("telemetry: not all was exported".to_owned())),
            Ended::Late => told.or_else(|| {
                Some(format!(
                    "telemetry: not all was exported: the receiver took longer than {limit:?}"
                ))
            }),
        }
    }
}

/// How several things ended that were done at once.
enum Ended {
    InTime,
    Failed,
    Late,
}

/// Does all of them at once, and waits no longer than `limit`: a flush of metrics has no limit.
fn at_once(ends: Vec<Box<dyn FnOnce() -> OTelSdkResult + Send>>, limit: Duration) -> Ended {
    let deadline = Instant::now() + limit;
    let (done, all_done) = mpsc::channel();
    let count = ends.len();
    for end in ends {
        let done = done.clone();
        // One that cannot be started is missing below.
        let _ = std::thread::Builder::new().spawn(move || done.send(end()));
    }
    drop(done);
    let mut result = Ended::InTime;
    for _ in 0..count {
        let left = deadline.saturating_duration_since(Instant::now());
        match all_done.recv_timeout(left) {
            Ok(Ok(())) => {}
            Ok(Err(OTelSdkError::Timeout(_))) | Err(RecvTimeoutError::Timeout) => {
                return Ended::Late;
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => result = Ended::Failed,
        }
    }
    result
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(SCOPE)
        .with_version(env!("CARGO_PKG_VERSION"))
        .build()
}

fn resource(service_name: Option<String>, instance: Option<String>) -> Resource {
    let instance = instance.map(|id| KeyValue::new("service.instance.id", id));
    let builder = Resource::builder()
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attributes(instance);
    match service_name {
        Some(name) => builder.with_service_name(name).build(),
        None => builder.build(),
    }
}

fn repeats() -> RetryPolicy {
    RetryPolicy::recommended().with_max_retries(REPEATS)
}

/// What all that is exported goes through.
struct WayOut {
    sender: Sender,
    troubles: Arc<Troubles>,
    resource: Resource,
}

impl WayOut {
    fn watched<E>(&self, exporter: E) -> Watched<E> {
        Watched {
            exporter,
            troubles: self.troubles.clone(),
        }
    }

    fn spans(
        &self,
        receiver: Receiver,
        parent: Option<&TraceContext>,
    ) -> Result<SpanExportLayer, ExporterBuildError> {
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(receiver.endpoint)
            .with_protocol(receiver.protocol)
            .with_timeout(receiver.limit)
            .with_headers(receiver.headers)
            .with_http_client(self.sender.clone().within(receiver.limit))
            .with_retry_policy(repeats())
            .build()?;
        exporter.set_resource(&self.resource);
        let processor = BatchSpanProcessor::builder(self.watched(exporter)).build();
        Ok(SpanExportLayer::new(processor, parent))
    }

    fn metrics(&self, receiver: Receiver) -> Result<SdkMeterProvider, ExporterBuildError> {
        let exporter = MetricExporter::builder()
            .with_http()
            .with_endpoint(receiver.endpoint)
            .with_protocol(receiver.protocol)
            .with_timeout(receiver.limit)
            .with_headers(receiver.headers)
            .with_http_client(self.sender.clone().within(receiver.limit))
            .with_retry_policy(repeats())
            .build()?;
        Ok(SdkMeterProvider::builder()
            .with_periodic_exporter(self.watched(exporter))
            .with_resource(self.resource.clone())
            .build())
    }
}
