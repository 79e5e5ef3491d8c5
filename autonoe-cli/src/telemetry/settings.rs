//! Settings of the telemetry export.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use autonoe_core::TraceContent;
use autonoe_model::{HeaderSource, ProviderContext};
use opentelemetry_otlp::Protocol;

use super::TelemetrySection;
use super::signal::{Signal, protocol};
use crate::compose::listed_keys;

/// Where a receiver is expected that is wanted but not named.
const USUAL_RECEIVER: &str = "http://localhost:4318";

/// How long an export may take, unless a variable says otherwise.
const USUAL_LIMIT: Duration = Duration::from_secs(10);

/// How long the end of a run waits for the last exports, unless a variable says otherwise.
const USUAL_END_LIMIT: Duration = Duration::from_secs(2);

/// The time limit of requests of all signals, in milliseconds.
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// The variable that says whether content is exported, as other programs know it.
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// What is exported, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) traces: Option<Receiver>,
    pub(super) metrics: Option<Receiver>,
    pub(super) content: TraceContent,
    /// How long the end of a run waits for the last exports.
    pub(super) end_limit: Duration,
    /// The name of the service; `None` where variables say it.
    pub(super) service_name: Option<String>,
    /// What the file of the project sends away, for people.
    pub(super) announced: Vec<String>,
}

/// Where something is exported to.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Receiver {
    pub(super) endpoint: String,
    pub(super) protocol: Protocol,
    pub(super) limit: Duration,
    /// Headers of the configuration. Those of variables are read by the exporter.
    pub(super) headers: HashMap<String, String>,
    /// Whether the configuration names it, and no variable.
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

/// What settings are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) environment: &'a BTreeMap<OsString, OsString>,
    pub(super) section: &'a TelemetrySection,
    /// The folder that files of secrets are relative to.
    pub(super) folder: &'a Path,
}

impl Settings {
    /// Decides what is exported; `None` is nothing.
    ///
    /// # Errors
    ///
    /// Something is said that cannot be done. It names the variable and never a secret.
    pub(super) fn of(said: Said<'_>) -> Result<Option<Self>, String> {
        if is_true(said.variable("OTEL_SDK_DISABLED")) {
            return Ok(None);
        }
        let traces = said.receiver(Signal::Traces)?;
        let metrics = said.receiver(Signal::Metrics)?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let settings = Self {
            traces,
            metrics,
            content: said.content(),
            end_limit: said.end_limit()?,
            service_name: said.service_name(),
            announced: Vec::new(),
        };
        Ok(Some(Self {
            announced: said.announced(&settings),
            ..settings
        }))
    }

    fn receivers(&self) -> impl Iterator<Item = &Receiver> {
        [&self.traces, &self.metrics].into_iter().flatten()
    }

    /// Tells whether a connection to any receiver is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        let mut receivers = self.receivers();
        receivers.any(|receiver| receiver.endpoint.starts_with("https:"))
    }
}

impl Said<'_> {
    /// Returns a variable that says something. A blank one counts as none.
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
        let is_wanted = match self.variable(&variable) {
            Some("none") => return Ok(None),
            Some("otlp") => true,
            None => false,
            Some(_) => return Err(format!("{variable} can be otlp or none")),
        };
        let Some(place) = self.place(signal, is_wanted)? else {
            return Ok(None);
        };
        let protocol = match self.first_of(signal.variables("PROTOCOL")) {
            None => Protocol::HttpBinary,
            Some((name, value)) => protocol(value)
                .ok_or_else(|| format!("{name} can be http/protobuf or http/json"))?,
        };
        let limit = match self.first_of(signal.variables("TIMEOUT")) {
            None => USUAL_LIMIT,
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

    fn place(&self, signal: Signal, is_wanted: bool) -> Result<Option<Place>, String> {
        let [of_signal, of_all] = signal.variables("ENDPOINT");
        let below = |base: &str| format!("{}{}", base.trim_end_matches('/'), signal.path());
        if let Some(endpoint) = self.variable(&of_signal) {
            return Place::of(&of_signal, endpoint.to_owned()).map(Some);
        }
        if let Some(base) = self.variable(&of_all) {
            return Place::of(&of_all, below(base)).map(Some);
        }
        if let Some(base) = &self.section.endpoint {
            let mut place = Place::of("telemetry.endpoint", below(base))?;
            place.headers = self.headers()?;
            place.is_of_section = true;
            return Ok(Some(place));
        }
        match is_wanted {
            true => Place::of(&signal.exporter_variable(), below(USUAL_RECEIVER)).map(Some),
            false => Ok(None),
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

    /// Returns how long the end of a run waits: as long as a request may take, and no less than
    /// by default.
    fn end_limit(&self) -> Result<Duration, String> {
        match self.variable(TIMEOUT) {
            None => Ok(USUAL_END_LIMIT),
            Some(value) => Ok(milliseconds(TIMEOUT, value)?.max(USUAL_END_LIMIT)),
        }
    }

    fn content(&self) -> TraceContent {
        let is_wanted = match self.variable(CONTENT) {
            None => self.section.content,
            Some(value) => ["true", "span_only", "span_and_event"]
                .iter()
                .any(|yes| value.eq_ignore_ascii_case(yes)),
        };
        match is_wanted {
            true => TraceContent::Recorded,
            false => TraceContent::LeftOut,
        }
    }

    /// Says what the section sends away that is not only about the run: secrets, and content.
    fn announced(&self, settings: &Settings) -> Vec<String> {
        let says = |sent: &str, place: &str| {
            format!("telemetry takes {sent} to {place}, as .autonoe/models.json says")
        };
        let own = self.section.endpoint.as_deref().unwrap_or_default();
        let keys = listed_keys(&self.section.keys());
        // Headers go to no other receiver than that of the section.
        let keys = keys.filter(|_| settings.receivers().any(|it| it.is_of_section));
        let is_told = self.variable(CONTENT).is_none() && self.section.content;
        let content = settings.traces.as_ref().filter(|_| is_told).map(|traces| {
            // Who has named the other one by a variable knows where it is.
            match traces.is_of_section {
                true => own,
                false => "the receiver of traces",
            }
        });
        let all = "all prompts, answers, and what tools are given and give back";
        let keys = keys.map(|keys| says(&keys, own));
        let content = content.map(|place| says(all, place));
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
    parsed.map_err(|_| format!("{name} is no number of milliseconds"))
}

fn is_true(value: Option<&str>) -> bool {
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// An address, with the headers that are for it alone.
struct Place {
    endpoint: String,
    headers: HashMap<String, String>,
    is_of_section: bool,
}

impl Place {
    fn of(said_by: &str, endpoint: String) -> Result<Self, String> {
        let is_http = endpoint.starts_with("http://") || endpoint.starts_with("https://");
        match is_http {
            true => Ok(Self {
                endpoint,
                headers: HashMap::new(),
                is_of_section: false,
            }),
            // It is not shown: some people put passwords there.
            false => Err(format!("{said_by} is no http:// or https:// address")),
        }
    }
}

#[cfg(test)]
mod tests;
