//! Where the server is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Pace, Tls};

/// Where the server is, and what is used of it. The same for engines and workers that belong together.
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
    /// The namespace that the runs are in.
    pub namespace: String,
    /// The queue that workers take runs from.
    pub queue: String,
    /// How the way there is guarded, for an address that begins with `https://`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The file with the key that the server asks for. It is read when the server is connected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
    /// How long to wait for what.
    pub pace: Pace,
}

impl Default for TemporalSettings {
    fn default() -> Self {
        Self {
            address: "http://127.0.0.1:7233".to_owned(),
            namespace: "default".to_owned(),
            queue: "autonoe".to_owned(),
            tls: None,
            api_key_file: None,
            pace: Pace::default(),
        }
    }
}

impl TemporalSettings {
    /// Uses the server at an address.
    pub fn at(address: impl Into<String>) -> Self {
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

    /// Guards the way there.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Shows the server the key in a file.
    #[must_use]
    pub fn api_key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.api_key_file = Some(path.into());
        self
    }

    /// Waits longer or shorter.
    #[must_use]
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }
}
