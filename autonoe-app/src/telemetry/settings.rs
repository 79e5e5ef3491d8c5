//! [`Settings`] of the telemetry export, from variables and the configuration.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use autonoe_core::run::TraceContent;
use autonoe_model::provider::{HeaderSource, ProviderContext};
use opentelemetry_otlp::Protocol;

use super::TelemetrySection;
use crate::format_key_places;

/// Default receiver, if an export is requested without an address.
const DEFAULT_RECEIVER: &str = "http://localhost:4318";

/// Default time limit of an export.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Default of how long the end of a run waits for the last exports.
const DEFAULT_END_TIMEOUT: Duration = Duration::from_secs(2);

/// The variable with the time limit of requests of all signals, in milliseconds.
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// The variable that enables the export of content, which other programs also use.
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Telemetry to export and its destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) traces: Option<Receiver>,
    pub(super) metrics: Option<Receiver>,
    pub(super) content: TraceContent,
    /// Time limit for the last exports at the end of a run.
    pub(super) end_limit: Duration,
    /// The name of the service; `None` if variables set it.
    pub(super) service_name: Option<String>,
    /// Warnings about what the project file sends to receivers.
    pub(super) warnings: Vec<String>,
}

/// The destination of an export.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Receiver {
    pub(super) endpoint: String,
    pub(super) protocol: Protocol,
    pub(super) limit: Duration,
    /// Headers of the configuration. The exporter reads those of variables.
    pub(super) headers: HashMap<String, String>,
    /// Whether the configuration names the receiver, not a variable.
    pub(super) is_of_section: bool,
}

impl std::fmt::Debug for Receiver {
    // Headers are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver")
            .field("protocol", &self.protocol)
            .finish_non_exhaustive()
    }
}

/// The sources of the settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct SettingsSource<'a> {
    pub(super) environment: &'a BTreeMap<OsString, OsString>,
    pub(super) section: &'a TelemetrySection,
    /// The base folder of files with secrets.
    pub(super) folder: &'a Path,
}

impl Settings {
    /// Resolves the settings; `None` if nothing is exported.
    ///
    /// # Errors
    ///
    /// A setting is invalid. The error names the variable, and never contains a secret.
    pub(super) fn resolve(source: SettingsSource<'_>) -> Result<Option<Self>, String> {
        if is_true(source.variable("OTEL_SDK_DISABLED")) {
            return Ok(None);
        }
        let traces = source.receiver(Signal::Traces)?;
        let metrics = source.receiver(Signal::Metrics)?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let settings = Self {
            traces,
            metrics,
            content: source.content(),
            end_limit: source.end_limit()?,
            service_name: source.service_name(),
            warnings: Vec::new(),
        };
        Ok(Some(Self {
            warnings: source.warnings(&settings),
            ..settings
        }))
    }

    fn receivers(&self) -> impl Iterator<Item = &Receiver> {
        [&self.traces, &self.metrics].into_iter().flatten()
    }

    /// Returns whether the connection to any receiver is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        let mut receivers = self.receivers();
        receivers.any(|receiver| receiver.endpoint.starts_with("https:"))
    }
}

impl SettingsSource<'_> {
    /// Returns a variable. A blank one counts as unset.
    fn variable(&self, name: &str) -> Option<&str> {
        let value = self.environment.get(OsStr::new(name))?.to_str()?.trim();
        (!value.is_empty()).then_some(value)
    }

    fn first_of(&self, names: [String; 2]) -> Option<(String, &str)> {
        names.into_iter().find_map(|name| {
            let value = self.variable(&name)?;
            Some((name, value))
        })
    }

    fn receiver(&self, signal: Signal) -> Result<Option<Receiver>, String> {
        let variable = signal.exporter_variable();
        let is_required = match self.variable(&variable) {
            Some("none") => return Ok(None),
            Some("otlp") => true,
            None => false,
            Some(_) => return Err(format!("{variable} must be otlp or none")),
        };
        let Some(place) = self.endpoint(signal, is_required)? else {
            return Ok(None);
        };
        let protocol = match self.first_of(signal.variables("PROTOCOL")) {
            None => Protocol::HttpBinary,
            Some((name, value)) => protocol(value)
                .ok_or_else(|| format!("{name} must be http/protobuf or http/json"))?,
        };
        let limit = match self.first_of(signal.variables("TIMEOUT")) {
            None => DEFAULT_TIMEOUT,
            Some((name, value)) => milliseconds(&name, value)?,
        };
        Ok(Some(Receiver {
            endpoint: place.endpoint,
            protocol,
            limit,
            headers: place.headers,
            is_of_section: place.is_of_section,
        }))
    }

    fn endpoint(&self, signal: Signal, is_required: bool) -> Result<Option<Endpoint>, String> {
        let [signal_variable, common_variable] = signal.variables("ENDPOINT");
        let below = |base: &str| format!("{}{}", base.trim_end_matches('/'), signal.path());
        if let Some(endpoint) = self.variable(&signal_variable) {
            return Endpoint::new(&signal_variable, endpoint.to_owned()).map(Some);
        }
        if let Some(base) = self.variable(&common_variable) {
            return Endpoint::new(&common_variable, below(base)).map(Some);
        }
        if let Some(base) = &self.section.endpoint {
            let mut place = Endpoint::new("telemetry.endpoint", below(base))?;
            place.headers = self.headers()?;
            place.is_of_section = true;
            return Ok(Some(place));
        }
        if is_required {
            Endpoint::new(&signal.exporter_variable(), below(DEFAULT_RECEIVER)).map(Some)
        } else {
            Ok(None)
        }
    }

    fn headers(&self) -> Result<HashMap<String, String>, String> {
        let context = ProviderContext::new("telemetry")
            .with_environment(self.environment.clone())
            .with_folder(self.folder);
        let mut headers = HashMap::new();
        for (name, source) in &self.section.headers {
            let value = match source {
                HeaderSource::Text(text) => Some(text.clone()),
                HeaderSource::Secret(source) => source
                    .resolve(&context)
                    .map_err(|error| error.message)?
                    .map(|secret| secret.expose().to_owned()),
            };
            headers.extend(value.map(|value| (name.clone(), value)));
        }
        Ok(headers)
    }

    /// Returns how long the end of a run waits: as long as a request may take, and at least the
    /// default.
    fn end_limit(&self) -> Result<Duration, String> {
        match self.variable(TIMEOUT) {
            None => Ok(DEFAULT_END_TIMEOUT),
            Some(value) => Ok(milliseconds(TIMEOUT, value)?.max(DEFAULT_END_TIMEOUT)),
        }
    }

    fn content(&self) -> TraceContent {
        let is_recorded = match self.variable(CONTENT) {
            None => self.section.content,
            Some(value) => ["true", "span_only", "span_and_event"]
                .iter()
                .any(|yes| value.eq_ignore_ascii_case(yes)),
        };
        if is_recorded {
            TraceContent::Recorded
        } else {
            TraceContent::Omitted
        }
    }

    /// Returns warnings about what the section sends beside facts of the run: secrets, and content.
    fn warnings(&self, settings: &Settings) -> Vec<String> {
        let warning = |sent: &str, place: &str| {
            format!("telemetry sends {sent} to {place}, as configured in .autonoe/models.json")
        };
        let own = self.section.endpoint.as_deref().unwrap_or_default();
        let keys = format_key_places(&self.section.keys());
        // Headers are sent only to the receiver of the section.
        let keys = keys.filter(|_| settings.receivers().any(|it| it.is_of_section));
        let is_reported = self.variable(CONTENT).is_none() && self.section.content;
        let content = settings
            .traces
            .as_ref()
            .filter(|_| is_reported)
            .map(|traces| {
                // A receiver from a variable is known to the operator.
                if traces.is_of_section {
                    own
                } else {
                    "the receiver of traces"
                }
            });
        let all = "all prompts, answers, tool inputs and tool results";
        let keys = keys.map(|keys| warning(&keys, own));
        let content = content.map(|place| warning(all, place));
        keys.into_iter().chain(content).collect()
    }

    fn service_name(&self) -> Option<String> {
        let attributes = self
            .variable("OTEL_RESOURCE_ATTRIBUTES")
            .unwrap_or_default();
        let mut names = attributes
            .split(',')
            .filter_map(|pair| pair.split_once('='));
        let is_named = self.variable("OTEL_SERVICE_NAME").is_some()
            || names.any(|(name, _)| name.trim() == "service.name");
        let name = || self.section.service_name.as_deref().unwrap_or("autonoe");
        (!is_named).then(|| name().to_owned())
    }
}

fn milliseconds(name: &str, value: &str) -> Result<Duration, String> {
    let parsed = value.parse().map(Duration::from_millis);
    parsed.map_err(|_| format!("{name} must be a number of milliseconds"))
}

fn is_true(value: Option<&str>) -> bool {
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// An address with its own headers.
struct Endpoint {
    endpoint: String,
    headers: HashMap<String, String>,
    is_of_section: bool,
}

impl Endpoint {
    fn new(source: &str, endpoint: String) -> Result<Self, String> {
        let is_http = endpoint.starts_with("http://") || endpoint.starts_with("https://");
        if is_http {
            Ok(Self {
                endpoint,
                headers: HashMap::new(),
                is_of_section: false,
            })
        } else {
            // The address is not printed, because it may contain a password.
            Err(format!("{source} must be an http:// or https:// address"))
        }
    }
}

#[cfg(test)]
mod tests;

/// A kind of exported telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Traces,
    Metrics,
}

impl Signal {
    /// Returns its name in variables.
    fn in_variables(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        }
    }

    /// Returns its path at a receiver of all signals.
    fn path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
        }
    }

    /// Returns the variable that selects its exporter.
    fn exporter_variable(self) -> String {
        format!("OTEL_{}_EXPORTER", self.in_variables())
    }

    /// Returns the variables of `suffix` for this signal and for all signals; the first one takes
    /// precedence.
    fn variables(self, suffix: &str) -> [String; 2] {
        [
            format!("OTEL_EXPORTER_OTLP_{}_{suffix}", self.in_variables()),
            format!("OTEL_EXPORTER_OTLP_{suffix}"),
        ]
    }
}

/// Parses a protocol, as variables spell it.
fn protocol(text: &str) -> Option<Protocol> {
    match text {
        "http/protobuf" => Some(Protocol::HttpBinary),
        "http/json" => Some(Protocol::HttpJson),
        _ => None,
    }
}
