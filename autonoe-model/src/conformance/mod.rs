//! Conformance suite for [`ModelClient`](crate::contract::ModelClient) implementations, callable
//! from a test.
//!
//! A [`ModelHarness`] makes the provider of a client play a [`ProviderScenario`]. [`model_client`]
//! exercises every clause of the client's contract. It returns the checks that passed, those that
//! failed with the reason, and those that were skipped.

/// Fails the current check unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($problem:tt)+) => {
        if !$holds {
            return Err(autonoe_testkit::conformance::Flaw::Failed(format!($($problem)+)));
        }
    };
}

mod answers;
mod broken_streams;
mod failed_calls;
mod harness;
mod invariants;
mod lifetimes;
mod recorded_answer;
mod replay;
mod secrets;
mod usage;

use autonoe_testkit::conformance::{Checks, Conformance};
use tracing::instrument::WithSubscriber;

use self::recorded_answer::Recorder;
use self::secrets::CapturedLog;

pub use harness::{
    BrokenStream, ModelHarness, NotStaged, ProviderScenario, Replayed, RequestedDelay,
    StagedProvider,
};

/// Checks a [`ModelClient`](crate::contract::ModelClient) against its contract.
///
/// Checks of behaviour that the provider cannot play are skipped and listed in the report. Every
/// wait is limited in Tokio's time. While the suite runs, it captures all traces of its own task
/// and searches them for keys and prompts.
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use autonoe_model::conformance::{
///     self, ModelHarness, NotStaged, ProviderScenario, Replayed, StagedProvider,
/// };
/// use autonoe_model::contract::ModelIdentity;
/// use autonoe_model::{ModelClient, ModelEvent, ModelReply, ModelRequest, ModelStream};
/// use futures::{StreamExt, stream};
/// use serde_json::Value;
///
/// /// Always gives the same answer.
/// struct Parrot(ModelIdentity, ModelReply);
///
/// impl ModelClient for Parrot {
///     // ...
/// #     fn identity(&self) -> &ModelIdentity {
/// #         &self.0
/// #     }
/// #
/// #     fn stream(&self, _: &ModelRequest) -> ModelStream {
/// #         let text = self.1.message.to_text();
/// #         let words: Vec<_> = text.split_inclusive(' ').map(|it| it.to_owned()).collect();
/// #         let words = words.into_iter().map(|word| Ok(ModelEvent::Text(word)));
/// #         let done = Ok(ModelEvent::Done(Box::new(self.1.clone())));
/// #         stream::iter(words.chain([done])).boxed()
/// #     }
/// }
///
/// /// Parrots neither reason nor call tools, and never fail.
/// struct Parrots;
///
/// #[async_trait]
/// impl ModelHarness for Parrots {
///     async fn stage(
///         &self,
///         scenario: &ProviderScenario,
///     ) -> Result<Box<dyn StagedProvider>, NotStaged> {
///         match scenario.clone() {
///             ProviderScenario::Answers { message, usage }
///                 if message.parts.len() == 1 && !message.to_text().is_empty() =>
///             {
///                 let reply = ModelReply::new(message).with_usage(usage);
///                 let parrot = Parrot(ModelIdentity::new("docs", "parrot"), reply);
///                 Ok(Box::new(Cage(Arc::new(parrot))))
///             }
///             _ => Err(NotStaged::Impossible),
///         }
///     }
///
///     fn key(&self) -> &str {
///         "a key that parrots do not have"
///     }
/// }
///
/// struct Cage(Arc<Parrot>);
///
/// #[async_trait]
/// impl StagedProvider for Cage {
///     fn model(&self) -> Arc<dyn ModelClient> {
///         self.0.clone()
///     }
///
///     // A parrot has no provider that could see anything.
///     fn requests(&self) -> Vec<Value> {
///         Vec::new()
///     }
///
///     async fn wait_for_disconnect(&self) {}
///
///     fn replayed(&self) -> Option<Replayed> {
///         None
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let report = conformance::model_client(&Parrots).await;
///
/// report.assert();
/// assert!(report.passed().contains(&"a text is streamed in pieces and complete at the end".to_owned()));
/// assert!(!report.skipped().is_empty());
/// # });
/// ```
pub async fn model_client(harness: &dyn ModelHarness) -> Conformance {
    let log = CapturedLog::default();
    let recorder = Recorder::new(harness);
    let checks = async {
        let mut checks = Checks::new("model client");
        answers::check(&mut checks, &recorder).await;
        usage::check(&mut checks, &recorder).await;
        replay::check(&mut checks, &recorder).await;
        failed_calls::check(&mut checks, &recorder, harness).await;
        broken_streams::check(&mut checks, &recorder).await;
        lifetimes::check(&mut checks, &recorder).await;
        secrets::check(&mut checks, &recorder, harness).await;
        checks
    };
    let mut checks = checks.with_subscriber(log.clone()).await;
    invariants::check(&mut checks, &recorder.all());
    secrets::check_logs(&mut checks, &recorder.all(), &log, harness);
    checks.finish()
}
