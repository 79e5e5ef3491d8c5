//! Connection to the Temporal server.

use std::path::PathBuf;
use std::time::Duration;

use temporalio_client::errors::ClientConnectError;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, TlsOptions, Url};

use crate::settings::api_key;
use crate::{TemporalSettings, Tls};

/// Timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Error of connecting to the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is invalid.
    #[error("{address:?} is not the address of a server")]
    Address {
        /// The given address.
        address: String,
        /// The problem of the address.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file with TLS settings or the API key cannot be read.
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
    #[error("{secret} needs an address that starts with https://")]
    Unencrypted {
        /// The secret.
        secret: &'static str,
    },
    /// There is no server at the address, or it does not behave like one.
    #[error("there is no Temporal server at {address}")]
    Unreachable {
        /// The address.
        address: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Connects to the server.
pub(crate) async fn connect(
    settings: &TemporalSettings,
    identity: &str,
) -> Result<Client, ConnectError> {
    let address = || settings.address.clone();
    let target = Url::parse(&settings.address).map_err(|error| ConnectError::Address {
        address: address(),
        source: error.into(),
    })?;
    let (tls, api_key) = credentials(settings, &target)?;
    let options = ConnectionOptions::new(target)
        .identity(identity)
        .connect_timeout(CONNECT_TIMEOUT)
        .maybe_tls_options(tls)
        .maybe_api_key(api_key)
        .build();
    let unreachable = |error: ClientConnectError| ConnectError::Unreachable {
        address: address(),
        source: error.into(),
    };
    let connection = Connection::connect(options).await.map_err(unreachable)?;
    let options = ClientOptions::new(&settings.namespace).build();
    Client::new(connection, options).map_err(|error| unreachable(error.into()))
}

/// Reads the TLS settings and the API key. Secrets are never sent unencrypted.
fn credentials(
    settings: &TemporalSettings,
    target: &Url,
) -> Result<(Option<TlsOptions>, Option<String>), ConnectError> {
    if target.scheme() != "https" {
        let unencrypted = |secret| Err(ConnectError::Unencrypted { secret });
        return match (&settings.tls, &settings.api_key_file) {
            (None, None) => Ok((None, None)),
            (Some(_), _) => unencrypted("the TLS configuration"),
            (None, Some(_)) => unencrypted("the API key"),
        };
    }
    let tls = settings.tls.as_ref().map(Tls::read).transpose()?;
    let key = settings.api_key_file.as_deref().map(api_key).transpose()?;
    Ok((Some(tls.unwrap_or_default()), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_secret_is_sent_in_the_open() {
        let open = TemporalSettings {
            api_key_file: Some("key".into()),
            ..TemporalSettings::new("http://127.0.0.1:1")
        };

        let error = connect(&open, "me").await.expect_err("it is refused");

        assert_eq!(
            error.to_string(),
            "the API key needs an address that starts with https://"
        );
    }

    #[tokio::test]
    async fn invalid_address_is_named_in_error() {
        let error = connect(&TemporalSettings::new("nowhere"), "me").await;

        let error = error.expect_err("it is refused");
        assert_eq!(
            error.to_string(),
            "\"nowhere\" is not the address of a server"
        );
    }
}
