//! Conformance suite for backends.

mod calls;
mod control;
mod fixture;
mod harness;
mod leftover_processes;
mod lifetimes;
mod observer_events;
mod played;
mod probe_tool;
mod record;
mod session_checks;
mod sessions;
mod suite;
mod turns;
mod unclaimed;

use self::fixture::Subject;
use self::sessions::Sessions;
use super::checks::Checks;
use super::report::Conformance;

pub use harness::{AgentHarness, ProbeCall, Scenario, assert_option_refused};

/// Checks an [`AgentClient`](autonoe_core::AgentClient) and its factory against their contracts.
///
/// Capabilities that a backend does not claim are not required: those checks are skipped and listed
/// in the report. But each field of a [`SessionSpec`](autonoe_core::SessionSpec) that it does not
/// claim in its [`Capabilities`](autonoe_core::Capabilities) is set once, and the backend must
/// refuse the session with
/// [`AgentErrorKind::Unclaimed`](autonoe_core::agent::AgentErrorKind::Unclaimed), as
/// [`SessionSpec::refuse_unclaimed`] does.
///
/// After each session the suite looks for remaining processes, on Linux: those with a variable of
/// [`SessionSpec::environment`] in their environment, and those that work in
/// [`AgentHarness::project`], unless that is the folder of all temporary files.
///
/// [`SessionSpec::environment`]: autonoe_core::SessionSpec::environment
/// [`SessionSpec::refuse_unclaimed`]: autonoe_core::SessionSpec::refuse_unclaimed
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use autonoe_core::AgentClientFactory;
/// use autonoe_testkit::conformance::{self, AgentHarness, Scenario};
/// # use autonoe_core::agent::{NoControl, Prompt, SessionControl, SessionOutcome};
/// # use autonoe_core::time::AgentSessionId;
/// # use autonoe_core::{
/// #     AgentClient, AgentError, Capabilities, MessageStream, SessionSpec, StreamEvent,
/// # };
/// # use futures::{StreamExt, stream};
/// # struct Parrot(String);
/// # #[async_trait]
/// # impl AgentClient for Parrot {
/// #     fn query(&mut self, _: Prompt) -> MessageStream<'_> {
/// #         stream::iter([
/// #             Ok(StreamEvent::started(AgentSessionId::new("parrot"), None)),
/// #             Ok(StreamEvent::text(self.0.clone())),
/// #             Ok(StreamEvent::end(SessionOutcome::Completed, None)),
/// #         ])
/// #         .boxed()
/// #     }
/// #     fn control(&self) -> Arc<dyn SessionControl> {
/// #         Arc::new(NoControl)
/// #     }
/// #     async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
/// #         Ok(())
/// #     }
/// # }
/// # struct Parrots(String);
/// # impl Parrots {
/// #     fn saying(text: &str) -> Self {
/// #         Self(text.to_owned())
/// #     }
/// # }
/// # #[async_trait]
/// # impl AgentClientFactory for Parrots {
/// #     async fn probe(&self) -> Result<Capabilities, AgentError> {
/// #         Ok(Capabilities::new("parrots"))
/// #     }
/// #     fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
/// #         spec.refuse_unclaimed(&Capabilities::new("parrots"))?;
/// #         Ok(Box::new(Parrot(self.0.clone())))
/// #     }
/// # }
///
/// /// Parrots can only repeat what they were taught.
/// struct ParrotHarness;
///
/// #[async_trait]
/// impl AgentHarness for ParrotHarness {
///     async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
///         match scenario {
///             Scenario::Says { text } => Some(Arc::new(Parrots::saying(text))),
///             _ => None,
///         }
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let report = conformance::agent_client(&ParrotHarness).await;
///
/// report.assert();
/// assert!(!report.skipped().is_empty());
/// # });
/// ```
pub async fn agent_client(harness: &dyn AgentHarness) -> Conformance {
    let subject = Subject::new(harness);
    let sessions = Sessions::play(&subject).await;
    let mut checks = Checks::new("agent client");
    suite::probe(&mut checks, harness).await;
    suite::turns(&mut checks, &sessions);
    suite::gate(&mut checks, &sessions);
    suite::own_tools(&mut checks, &sessions);
    suite::observer_events(&mut checks, &sessions);
    suite::unclaimed(&mut checks, &subject, &sessions).await;
    suite::outer_sandbox(&mut checks, &subject, &sessions).await;
    suite::lifetimes(&mut checks, &subject, &sessions).await;
    suite::control(&mut checks, &subject).await;
    // Runs after all others, because it reports the processes of every session.
    suite::processes(&mut checks, &subject, &sessions);
    checks.finish()
}
