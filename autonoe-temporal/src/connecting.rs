//! The way to the server.

use temporalio_client::errors::ClientConnectError;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, Url};

use crate::TemporalSettings;

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
    let options = ConnectionOptions::new(target).identity(identity).build();
    let unreachable = |error: ClientConnectError| ConnectError::Unreachable {
        address: address(),
        source: error.into(),
    };
    let connection = Connection::connect(options).await.map_err(unreachable)?;
    let options = ClientOptions::new(&settings.namespace).build();
    Client::new(connection, options).map_err(|error| unreachable(error.into()))
}
