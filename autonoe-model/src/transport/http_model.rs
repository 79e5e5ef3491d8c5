//! A model behind a protocol and a connection.

use std::fmt;
use std::sync::Arc;

use futures::{StreamExt, stream};

use super::HttpClient;
use super::call::Call;
use crate::contract::{ModelClient, ModelIdentity, ModelRequest, ModelStream};
use crate::wire::Wire;

/// A model that is asked over the protocol `W`.
pub(crate) struct HttpModel<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    identity: ModelIdentity,
}

impl<W: Wire> HttpModel<W> {
    pub(crate) fn new(wire: Arc<W>, http: Arc<HttpClient>, identity: ModelIdentity) -> Self {
        Self {
            wire,
            http,
            identity,
        }
    }
}

impl<W: Wire> fmt::Debug for HttpModel<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("identity", &self.identity)
            .field("protocol", &self.wire.protocol())
            .finish_non_exhaustive()
    }
}

impl<W: Wire> ModelClient for HttpModel<W> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        let encoded = self.wire.encode(&self.identity.model, request);
        let call = Call::new(self.wire.clone(), self.http.clone(), encoded);
        stream::unfold(call, async |mut call| {
            let event = call.next().await?;
            Some((event, call))
        })
        // Without it, who looks once more after the end would panic.
        .fuse()
        .boxed()
    }
}
