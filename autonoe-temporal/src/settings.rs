//! [`TemporalSettings`]: address, queue and credentials of the server.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Timeouts, Tls};

/// Connection settings of the server. Engines and workers that belong together use the same ones.
///
/// ```
/// use autonoe_temporal::TemporalSettings;
///
/// let settings: TemporalSettings = serde_json::from_str(
///     r#"{"address": "http://temporal.example:7233", "queue": "shop"}"#,
/// )?;
///
/// assert_eq!(settings.namespace, "default");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TemporalSettings {
    /// The address of the server's frontend.
    pub address: String,
    /// The namespace of the runs.
    pub namespace: String,
    /// The task queue that workers poll.
    pub queue: String,
    /// TLS settings, for an address that begins with `https://`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The file with the API key. It is read when a connection is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
    /// Timeouts.
    pub timeouts: Timeouts,
}

impl Default for TemporalSettings {
    fn default() -> Self {
        Self {
            address: "http://127.0.0.1:7233".to_owned(),
            namespace: "default".to_owned(),
            queue: "autonoe".to_owned(),
            tls: None,
            api_key_file: None,
            timeouts: Timeouts::default(),
        }
    }
}

impl TemporalSettings {
    /// Uses the server at an address.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            ..Self::default()
        }
    }

    /// Uses another namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Uses another queue.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = queue.into();
        self
    }

    /// Sets the TLS settings.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Authenticates with the API key in a file.
    #[must_use]
    pub fn api_key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.api_key_file = Some(path.into());
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }
}
