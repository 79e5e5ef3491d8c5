//! [`TemporalSettings`]: address, queue, [`Tls`] and credentials of the server, and [`Timeouts`].

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::time::millis;
use serde::{Deserialize, Serialize};
use temporalio_client::{ClientTlsOptions, TlsOptions};

use crate::ConnectError;

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
}

/// TLS settings: the authorities for the server, and the client certificate.
///
/// Files are PEM, and are read when a connection is made.
///
/// ```
/// use autonoe_temporal::Tls;
///
/// let tls: Tls = serde_json::from_str(
///     r#"{"caFile": "ca.pem", "certificateFile": "build-1.pem", "keyFile": "build-1.key"}"#,
/// )?;
///
/// assert_eq!(tls.server_name, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Tls {
    /// The certificate authority of the server. By default, the authorities that the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The name in the certificate of the server. By default, the host of its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// The client certificate, for servers that require one. It needs its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_file: Option<PathBuf>,
    /// The key of the client certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
}

impl Tls {
    /// Reads the files.
    pub(crate) fn read(&self) -> Result<TlsOptions, ConnectError> {
        let own = match (&self.certificate_file, &self.key_file) {
            (Some(certificate), Some(key)) => Some(
                ClientTlsOptions::builder()
                    .client_cert(bytes(certificate)?)
                    .client_private_key(bytes(key)?)
                    .build(),
            ),
            (None, None) => None,
            _ => return Err(ConnectError::IncompletePair),
        };
        let ca = self.ca_file.as_deref().map(bytes).transpose()?;
        Ok(TlsOptions::builder()
            .maybe_server_root_ca_cert(ca)
            .maybe_domain(self.server_name.clone())
            .maybe_client_tls_options(own)
            .build())
    }
}

/// Reads an API key.
pub(crate) fn api_key(path: &Path) -> Result<String, ConnectError> {
    let key = String::from_utf8(bytes(path)?).unwrap_or_default();
    let key = key.trim();
    // It is sent as a header.
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        let path = path.to_owned();
        return Err(ConnectError::NoKey { path });
    }
    Ok(key.to_owned())
}

fn bytes(path: &Path) -> Result<Vec<u8>, ConnectError> {
    fs::read(path).map_err(|source| ConnectError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

/// Timeouts and retry limits. The defaults were found by experiment.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_temporal::Timeouts;
///
/// let hasty = Timeouts { heartbeat: Duration::from_secs(10), ..Timeouts::default() };
///
/// assert_eq!(serde_json::to_value(hasty)?["heartbeatMs"], 10_000);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timeouts {
    /// Time without a heartbeat after which a worker counts as dead, and its work is given to
    /// another one. The server may be unreachable for this long without affecting the work.
    #[serde(rename = "heartbeatMs", with = "millis")]
    pub heartbeat: Duration,
    /// Interval of heartbeats. A cancellation may take this long to reach a worker.
    #[serde(rename = "heartbeatIntervalMs", with = "millis")]
    pub heartbeat_interval: Duration,
    /// Time that the next workflow task waits for the worker that has the workflow in its cache,
    /// which may be dead.
    #[serde(rename = "stickyMs", with = "millis")]
    pub sticky: Duration,
    /// Maximum duration of one activity.
    #[serde(rename = "activityMs", with = "millis")]
    pub activity: Duration,
    /// Time that a session waits for the host that has claimed its run, before another host claims
    /// the run.
    #[serde(rename = "hostMs", with = "millis")]
    pub host: Duration,
    /// Time that the end of a run waits until its host has recorded it. The end is reported when it
    /// is recorded, or after this time.
    #[serde(rename = "endMs", with = "millis")]
    pub end: Duration,
    /// Maximum number of attempts of a run or session whose workers die.
    pub attempts: u32,
    /// Number of sessions after which a run continues with a new history. The server limits the
    /// length of a history.
    pub sessions_in_history: u32,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(60),
            heartbeat_interval: Duration::from_secs(5),
            sticky: Duration::from_secs(3),
            activity: Duration::from_secs(7 * 24 * 3600),
            host: Duration::from_secs(60),
            end: Duration::from_secs(30),
            attempts: 10,
            sessions_in_history: 500,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_without_its_key_is_refused() {
        let tls = Tls {
            certificate_file: Some("build-1.pem".into()),
            ..Tls::default()
        };

        assert!(matches!(tls.read(), Err(ConnectError::IncompletePair)));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let tls = Tls {
            ca_file: Some("no/such.pem".into()),
            ..Tls::default()
        };

        let error = tls.read().expect_err("there is none");

        assert_eq!(error.to_string(), "cannot read no/such.pem");
    }

    #[test]
    fn a_key_is_one_line_of_plain_characters() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let read = |text: &str| {
            fs::write(&path, text).expect("writable");
            api_key(&path)
        };

        assert_eq!(read("secret\n").expect("a key"), "secret");
        for text in ["", " \n", "two\nlines", "umlaut ä"] {
            assert!(
                matches!(read(text), Err(ConnectError::NoKey { .. })),
                "{text:?}"
            );
        }
    }
}
