//! The way to the server.

use std::time::Duration;

use temporalio_client::errors::ClientConnectError;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, TlsOptions, Url};

use crate::tls::{GuardError, api_key};
use crate::{TemporalSettings, Tls};

/// How long a server has to let itself be connected to.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// That is no address.
    #[error("{address:?} is no address of a server")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What guards the way there cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// Nobody answers there, or not as a server would.
    #[error("there is no Temporal server at {address}")]
    Unreachable {
        /// Where.
        address: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Finds the server.
pub(crate) async fn connect(
    settings: &TemporalSettings,
    identity: &str,
) -> Result<Client, ConnectError> {
    let address = || settings.address.clone();
    let target = Url::parse(&settings.address).map_err(|error| ConnectError::Address {
        address: address(),
        source: error.into(),
    })?;
    let (tls, api_key) = guards(settings, &target)?;
    let options = ConnectionOptions::new(target)
        .identity(identity)
        .connect_timeout(PATIENCE)
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

/// Reads what guards the way to the server. Nothing secret is sent in the open.
fn guards(
    settings: &TemporalSettings,
    target: &Url,
) -> Result<(Option<TlsOptions>, Option<String>), GuardError> {
    if target.scheme() != "https" {
        let in_the_open = |what| Err(GuardError::InTheOpen { what });
        return match (&settings.tls, &settings.api_key_file) {
            (None, None) => Ok((None, None)),
            (Some(_), _) => in_the_open("what guards the way to the server"),
            (None, Some(_)) => in_the_open("the key for the server"),
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
        let open = TemporalSettings::at("http://127.0.0.1:1").api_key_file("key");

        let error = connect(&open, "me").await.expect_err("it is refused");

        assert_eq!(
            error.to_string(),
            "the key for the server needs an address that begins with https://"
        );
    }

    #[tokio::test]
    async fn what_is_no_address_is_named() {
        let error = connect(&TemporalSettings::at("nowhere"), "me").await;

        let error = error.expect_err("it is refused");
        assert_eq!(error.to_string(), "\"nowhere\" is no address of a server");
    }
}
