//! [`Telemetry`]: exports spans and metrics to receivers, and connects sessions to them.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use autonoe_core::event::TraceContext;
use autonoe_core::run::{SessionRunnerBuilder, TraceContent};
use autonoe_telemetry::{FleetMeters, RunMeters, SpanExportLayer};
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanExporter as _};
use rustls::RootCertStore;

use super::export_errors::{ExportErrors, RecordingExporter};
use super::sender::Sender;
use super::settings::{Receiver, Settings, SettingsSource};
use crate::{Env, ModelsFile};

/// Number of retries of a request. It is small, so that the end of a run does not wait long for an
/// unreachable receiver.
const MAX_RETRIES: usize = 2;

const SCOPE: &str = "autonoe";

/// Exports spans and metrics of a run. By default it exports nothing.
#[derive(Default)]
pub struct Telemetry {
    spans: Option<SpanExportLayer>,
    metrics: Option<SdkMeterProvider>,
    content: TraceContent,
    warnings: Vec<String>,
    /// Time limit for the last exports at the end of a run.
    end_limit: Duration,
    recent_errors: Arc<ExportErrors>,
}

impl Telemetry {
    /// Starts the exports that variables and `models` request; below `parent`, if that trace is
    /// recorded. Encrypted connections trust the certificate authorities of connections to models.
    ///
    /// `instance` identifies this process among those that export metrics for the same service at
    /// the same time.
    ///
    /// # Errors
    ///
    /// The settings are invalid. The error is a message for people.
    pub fn start(
        models: &ModelsFile,
        project: &Path,
        env: &Env,
        parent: Option<&TraceContext>,
        instance: Option<String>,
    ) -> Result<Self, String> {
        let settings = Settings::resolve(SettingsSource {
            environment: &env.environment,
            section: &models.telemetry,
            folder: project,
        })?;
        let Some(settings) = settings else {
            return Ok(Self::default());
        };
        // Reading the certificates takes time, which plain connections need not spend.
        let authorities = if settings.is_encrypted() {
            let trust = models.trust.clone().resolve_in(project);
            trust
                .read(&env.environment)
                .map_err(|problem| format!("no certificate can be trusted: {problem}"))?
        } else {
            Arc::new(RootCertStore::empty())
        };
        Self::begin(settings, authorities, parent, instance)
    }

    fn begin(
        settings: Settings,
        authorities: Arc<RootCertStore>,
        parent: Option<&TraceContext>,
        instance: Option<String>,
    ) -> Result<Self, String> {
        let recent_errors = Arc::new(ExportErrors::default());
        let sender = Sender::start(authorities, recent_errors.clone())
            .map_err(|error| format!("the exporter cannot start: {error}"))?;
        let pipeline = ExportPipeline {
            sender,
            recent_errors: recent_errors.clone(),
            resource: resource(settings.service_name, instance),
        };
        // The owner of the trace decides whether it is recorded.
        let is_recorded = parent.is_none_or(TraceContext::is_sampled);
        let traces = settings.traces.filter(|_| is_recorded);
        let spans = traces.map(|receiver| pipeline.spans(receiver, parent));
        let metrics = settings.metrics.map(|receiver| pipeline.metrics(receiver));
        let message = |error: ExporterBuildError| error.to_string();
        Ok(Self {
            spans: spans.transpose().map_err(message)?,
            metrics: metrics.transpose().map_err(message)?,
            content: settings.content,
            warnings: settings.warnings,
            end_limit: settings.end_limit,
            recent_errors,
        })
    }

    /// Returns the layer that exports spans, for the subscriber of the process.
    pub fn spans(&self) -> Option<SpanExportLayer> {
        self.spans.clone()
    }

    /// Returns the settings of sessions.
    pub fn sessions(&self) -> SessionTelemetry {
        SessionTelemetry {
            meter: self.meter(),
            content: self.content,
        }
    }

    /// Returns the observer that measures a fleet.
    pub fn fleet_meters(&self) -> Option<FleetMeters> {
        self.meter().map(|meter| FleetMeters::new(&meter))
    }

    fn meter(&self) -> Option<Meter> {
        let metrics = self.metrics.as_ref()?;
        Some(metrics.meter_with_scope(scope()))
    }

    /// Returns warnings for the start of a run: what a project file sends to receivers.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Exports the rest within the time limit of the settings. Returns what was not exported, if
    /// anything.
    pub fn finish(self) -> Option<String> {
        let limit = self.end_limit;
        self.finish_within(limit)
    }

    /// Exports the rest within `limit` or the time limit of the settings, whichever is shorter.
    pub fn finish_within(self, limit: Duration) -> Option<String> {
        let limit = limit.min(self.end_limit);
        let mut ends: Vec<Box<dyn FnOnce() -> OTelSdkResult + Send>> = Vec::new();
        if let Some(spans) = self.spans {
            ends.push(Box::new(move || spans.shutdown(limit)));
        }
        if let Some(metrics) = self.metrics {
            ends.push(Box::new(move || {
                let flushed = metrics.force_flush();
                // `shutdown` gives up after five seconds, and dropping it would export again.
                std::mem::forget(metrics);
                flushed
            }));
        }
        let ended = run_concurrently(ends, limit);
        let problem = self.recent_errors.message();
        match ended {
            Ended::InTime => problem,
            Ended::Failed => {
                problem.or_else(|| Some("telemetry: some data was not exported".to_owned()))
            }
            Ended::Late => problem.or_else(|| {
                Some(format!(
                    "telemetry: some data was not exported: the receiver took longer than {limit:?}"
                ))
            }),
        }
    }
}

/// Result of concurrent operations.
enum Ended {
    InTime,
    Failed,
    Late,
}

/// Runs all operations concurrently, for at most `limit`: a flush of metrics has no limit of its
/// own.
fn run_concurrently(
    ends: Vec<Box<dyn FnOnce() -> OTelSdkResult + Send>>,
    limit: Duration,
) -> Ended {
    let deadline = Instant::now() + limit;
    let (done, all_done) = mpsc::channel();
    let count = ends.len();
    for end in ends {
        let done = done.clone();
        // A thread that cannot be started is missing below.
        let _ = std::thread::Builder::new().spawn(move || done.send(end()));
    }
    drop(done);
    let mut result = Ended::InTime;
    for _ in 0..count {
        let remaining = deadline.saturating_duration_since(Instant::now());
        match all_done.recv_timeout(remaining) {
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

fn retry_policy() -> RetryPolicy {
    RetryPolicy::recommended().with_max_retries(MAX_RETRIES)
}

/// The shared parts of all exporters.
struct ExportPipeline {
    sender: Sender,
    recent_errors: Arc<ExportErrors>,
    resource: Resource,
}

impl ExportPipeline {
    fn recording<E>(&self, exporter: E) -> RecordingExporter<E> {
        RecordingExporter {
            exporter,
            recent_errors: self.recent_errors.clone(),
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
            .with_retry_policy(retry_policy())
            .build()?;
        exporter.set_resource(&self.resource);
        let processor = BatchSpanProcessor::builder(self.recording(exporter)).build();
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
            .with_retry_policy(retry_policy())
            .build()?;
        Ok(SdkMeterProvider::builder()
            .with_periodic_exporter(self.recording(exporter))
            .with_resource(self.resource.clone())
            .build())
    }
}

/// Telemetry settings of sessions: the meter, and whether spans carry content.
#[derive(Clone, Default)]
pub struct SessionTelemetry {
    meter: Option<Meter>,
    content: TraceContent,
}

impl SessionTelemetry {
    /// Applies the settings to sessions below `parent`. Each call adds its own observer, so that
    /// sessions of several builders can run at the same time.
    pub fn apply(
        &self,
        builder: SessionRunnerBuilder,
        parent: Option<TraceContext>,
    ) -> SessionRunnerBuilder {
        let builder = builder.trace_content(self.content);
        let builder = match parent {
            Some(parent) => builder.trace(parent),
            None => builder,
        };
        match &self.meter {
            Some(meter) => builder.observer(Arc::new(RunMeters::new(meter))),
            None => builder,
        }
    }
}

/// Returns the parent trace of the command, if its caller passed one.
///
/// An invalid trace parent is ignored, as the standard requires.
pub fn parent_trace(env: &Env) -> Option<TraceContext> {
    let parent = env.variable("TRACEPARENT")?;
    let context = TraceContext::parse(parent, env.variable("TRACESTATE"));
    if context.is_err() {
        tracing::debug!("TRACEPARENT is not a valid trace parent; the run starts a new trace");
    }
    context.ok()
}
