//! Telemetry section of a configuration file.

use std::collections::BTreeMap;

use autonoe_model::backend::KeyLocations;
use autonoe_model::provider::HeaderSource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Destination and content of the traces and metrics of runs.
///
/// The `OTEL_*` environment variables take precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct TelemetrySection {
    /// The receiver, for example `http://localhost:4318`; `/v1/traces` and `/v1/metrics` are added.
    /// Without it nothing is exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Headers for this receiver: literal values, or the location of a secret (`{"env": "NAME"}`).
    /// They are not sent to a receiver from an environment variable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
    /// The name of the service, `autonoe` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// Whether prompts, answers, tool inputs and tool results are exported too. Readers of the
    /// traces can then read the content of the project.
    pub content: bool,
}

impl TelemetrySection {
    /// Returns the locations of the secrets in its headers.
    pub fn keys(&self) -> KeyLocations {
        let written = serde_json::to_value(&self.headers);
        KeyLocations::from_json(&written.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use autonoe_model::KeySource;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_section_is_read_and_written_the_same() {
        let written = json!({
            "endpoint": "http://localhost:4318",
            "headers": {"authorization": {"env": "TOKEN"}, "x-team": "blue"},
            "serviceName": "builds",
            "content": true,
        });

        let section: TelemetrySection = serde_json::from_value(written.clone()).expect("one");

        let token = HeaderSource::Secret(KeySource::env("TOKEN"));
        assert_eq!(section.headers["authorization"], token);
        assert_eq!(serde_json::to_value(&section).expect("JSON"), written);
    }

    #[test]
    fn by_default_there_is_no_receiver_and_no_content() {
        let section: TelemetrySection = serde_json::from_str("{}").expect("one");

        assert_eq!(section, TelemetrySection::default());
        assert_eq!((section.endpoint, section.content), (None, false));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let mistake = json!({"endpiont": "http://localhost:4318"});
        assert!(serde_json::from_value::<TelemetrySection>(mistake).is_err());
    }
}
