//! What a configuration file says about telemetry.

use std::collections::BTreeMap;

use autonoe_model::{HeaderSource, KeyPlaces};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where traces and metrics of runs go, and what is in them.
///
/// The `OTEL_*` variables of the environment win over it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TelemetrySection {
    /// The receiver, for example `http://localhost:4318`; `/v1/traces` and `/v1/metrics` are added.
    /// Without it nothing is exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    /// Headers for this receiver: texts, or where a secret is (`{"env": "NAME"}`). They are not
    /// sent to a receiver that a variable names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, HeaderSource>,
    /// The name of the service, `autonoe` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) service_name: Option<String>,
    /// Whether prompts, answers, and what tools are given and give back are exported, too. Who
    /// reads the traces then reads the project.
    pub(crate) content: bool,
}

impl TelemetrySection {
    /// Returns where the secrets of its headers are.
    pub(crate) fn keys(&self) -> KeyPlaces {
        let written = serde_json::to_value(&self.headers);
        KeyPlaces::in_json(&written.unwrap_or_default())
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
    fn a_word_that_is_not_known_is_refused() {
        let mistake = json!({"endpiont": "http://localhost:4318"});
        assert!(serde_json::from_value::<TelemetrySection>(mistake).is_err());
    }
}
