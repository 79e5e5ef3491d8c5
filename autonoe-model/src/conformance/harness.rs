//! How a suite gets clients whose provider does what it needs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::Scenario;
use crate::contract::{ModelClient, ModelError};

/// Makes a provider do what a suite needs.
///
/// An implementer owes the real client, and in the place of the provider something that is
/// scripted, a server for example.
#[async_trait]
pub trait ModelHarness: Send + Sync {
    /// Makes the provider play `scenario`.
    ///
    /// # Errors
    ///
    /// The provider cannot do such a thing; the checks that need it are skipped. Or the client
    /// cannot be made, which is what a failure of the configuration looks like.
    async fn stage(&self, scenario: &Scenario) -> Result<Box<dyn Stage>, NotStaged>;

    /// Returns the key that the clients prove themselves with. It must be found nowhere.
    fn key(&self) -> &str;

    /// Returns all that a program can print of a client and of what makes it: its spec, its
    /// provider. Without any, nobody looks for a key there.
    fn shown(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns how long anything may take, in tokio's time.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// A provider that plays a scenario, and its client.
#[async_trait]
pub trait Stage: Send + Sync {
    /// Returns the client, always the same.
    fn model(&self) -> Arc<dyn ModelClient>;

    /// Returns the requests that came so far, as JSON, the oldest first.
    fn requests(&self) -> Vec<Value>;

    /// Waits until the client has left in the middle of an answer. The suite limits the wait.
    async fn client_left(&self);

    /// Returns what the first answer was in the provider's words, and what the last request has
    /// in its place; `None` if that cannot be seen.
    fn replayed(&self) -> Option<Replayed>;
}

/// An answer, as it came and as it went back.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What the provider had said.
    pub came: Value,
    /// What it got back.
    pub went_back: Value,
}

/// Why a scenario is not played.
#[derive(Clone, Debug, PartialEq)]
pub enum NotStaged {
    /// The provider cannot do such a thing.
    Impossible,
    /// The client cannot be made.
    Failed(ModelError),
}

impl From<ModelError> for NotStaged {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}
