//! [`Tls`]: TLS settings and API keys of the server.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use temporalio_client::{ClientTlsOptions, TlsOptions};

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

/// Error of reading TLS settings or the API key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Only one of certificate and key is set.
    #[error("a client certificate needs its key, and a key its certificate")]
    IncompletePair,
    /// The file has no valid API key.
    #[error("{} does not contain a key, as one line of ASCII characters", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A secret would be sent unencrypted.
    #[error("{what} needs an address that starts with https://")]
    Unencrypted {
        /// The secret.
        what: &'static str,
    },
}

impl Tls {
    /// Reads the files.
    pub(crate) fn read(&self) -> Result<TlsOptions, CredentialsError> {
        let own = match (&self.certificate_file, &self.key_file) {
            (Some(certificate), Some(key)) => Some(
                ClientTlsOptions::builder()
                    .client_cert(bytes(certificate)?)
                    .client_private_key(bytes(key)?)
                    .build(),
            ),
            (None, None) => None,
            _ => return Err(CredentialsError::IncompletePair),
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
pub(crate) fn api_key(path: &Path) -> Result<String, CredentialsError> {
    let key = String::from_utf8(bytes(path)?).unwrap_or_default();
    let key = key.trim();
    // It is sent as a header.
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        let path = path.to_owned();
        return Err(CredentialsError::NoKey { path });
    }
    Ok(key.to_owned())
}

fn bytes(path: &Path) -> Result<Vec<u8>, CredentialsError> {
    fs::read(path).map_err(|source| CredentialsError::Unreadable {
        path: path.to_owned(),
        source,
    })
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

        assert!(matches!(tls.read(), Err(CredentialsError::IncompletePair)));
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
                matches!(read(text), Err(CredentialsError::NoKey { .. })),
                "{text:?}"
            );
        }
    }
}
