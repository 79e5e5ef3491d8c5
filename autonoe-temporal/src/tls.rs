//! How the way to the server is guarded.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use temporalio_client::{ClientTlsOptions, TlsOptions};

/// How the way to the server is guarded: who it must be, and who this is.
///
/// Files are PEM, and are read when the server is connected to.
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
    /// Who must have signed the certificate of the server; whoever the system trusts by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The name in the certificate of the server; that of its address by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// The own certificate, for servers that ask for one. It needs its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_file: Option<PathBuf>,
    /// The key of the own certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
}

/// Why what guards the way to the server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// One of certificate and key is there without the other.
    #[error("an own certificate needs its key, and a key its certificate")]
    Half,
    /// The file has no key that can be sent.
    #[error("{} has no key in it, in one line of plain characters", path.display())]
    NoKey {
        /// Which.
        path: PathBuf,
    },
    /// It would be sent so that anybody can read it.
    #[error("{what} needs an address that begins with https://")]
    InTheOpen {
        /// What.
        what: &'static str,
    },
}

impl Tls {
    /// Reads the files.
    pub(crate) fn read(&self) -> Result<TlsOptions, GuardError> {
        let own = match (&self.certificate_file, &self.key_file) {
            (Some(certificate), Some(key)) => Some(
                ClientTlsOptions::builder()
                    .client_cert(bytes(certificate)?)
                    .client_private_key(bytes(key)?)
                    .build(),
            ),
            (None, None) => None,
            _ => return Err(GuardError::Half),
        };
        let ca = self.ca_file.as_deref().map(bytes).transpose()?;
        Ok(TlsOptions::builder()
            .maybe_server_root_ca_cert(ca)
            .maybe_domain(self.server_name.clone())
            .maybe_client_tls_options(own)
            .build())
    }
}

/// Reads a key that servers ask for.
pub(crate) fn api_key(path: &Path) -> Result<String, GuardError> {
    let key = String::from_utf8(bytes(path)?).unwrap_or_default();
    let key = key.trim();
    // It becomes a header.
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        let path = path.to_owned();
        return Err(GuardError::NoKey { path });
    }
    Ok(key.to_owned())
}

fn bytes(path: &Path) -> Result<Vec<u8>, GuardError> {
    fs::read(path).map_err(|source| GuardError::Unreadable {
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

        assert!(matches!(tls.read(), Err(GuardError::Half)));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let tls = Tls {
            ca_file: Some("no/such.pem".into()),
            ..Tls::default()
        };

        let error = tls.read().expect_err("there is none");

        assert_eq!(error.to_string(), "no/such.pem cannot be read");
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
                matches!(read(text), Err(GuardError::NoKey { .. })),
                "{text:?}"
            );
        }
    }
}
