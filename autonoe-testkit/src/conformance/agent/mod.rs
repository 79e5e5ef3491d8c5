//! Conformance suite for backends.

mod calls;
mod control;
mod fixture;
mod leftover_processes;
mod lifetimes;
mod observer_events;
mod played;
mod probe_tool;
mod record;
mod sessions;
mod suite;
mod turns;
mod unclaimed;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClientFactory, RunId, SessionSpec};
use jiff::Timestamp;
use serde_json::Value;

use self::fixture::Subject;
use self::sessions::Sessions;
use super::checks::{Checks, Conformance};

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

/// Provides agents of one backend that play the scenarios of the suite.
///
/// An implementation returns agents of the real backend with something scripted behind it: a model
/// server, a program, a recording. The suite provides the sessions themselves (gate, tools,
/// prompt).
#[async_trait]
pub trait AgentHarness: Send + Sync {
    /// Returns agents that play `scenario` in every session, or `None` if they cannot.
    ///
    /// The suite creates up to three sessions with the returned agents, two of them at the same
    /// time. The checks of a scenario that cannot be played are skipped, and listed as skipped.
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>>;

    /// Returns the working directory of sessions. It must exist.
    fn project(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// Returns the time limit of every step, in tokio's time.
    ///
    /// Processes that a session leaves have the same limit to end, in real time. Time in which the
    /// machine is too busy to run the suite does not count.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// Behaviour of an agent in a session, for any prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scenario {
    /// Sends `text` and ends its turn as completed. Uses no tool.
    Says {
        /// The text.
        text: String,
    },
    /// Runs `command` with the backend's own shell tool, once, accepts any result (also a refusal),
    /// and ends its turn as completed.
    RunsCommand {
        /// The complete text for the shell.
        command: String,
    },
    /// Makes all of `calls` in one message, so that they run at the same time if the backend
    /// supports it. Accepts any result, and ends its turn as completed.
    UsesTools {
        /// The calls, each of a tool of the suite.
        calls: Vec<ProbeCall>,
    },
    /// Sends a text, then does nothing until it is stopped.
    Hangs,
    /// Fails in the middle of its turn: its program dies, or its service fails permanently.
    Fails,
    /// Finds that the quota of its subscription is exhausted.
    ///
    /// Only requested if the backend claims to report when the quota resets.
    HitsQuota {
        /// The reset time of the quota.
        resets_at: Timestamp,
    },
}

/// A call of a tool of the suite.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProbeCall {
    /// The tool, by its name in the session's [`Toolbox`].
    pub tool: String,
    /// The input of the call.
    pub input: Value,
}

impl ProbeCall {
    fn new(tool: &str, input: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            input,
        }
    }

    /// Returns the name that agents use for the tool, for example `mcp__autonoe__probe`.
    pub fn qualified_name(&self) -> String {
        Toolbox::qualified_name(&self.tool)
    }
}

/// Asserts that `agents`, which have an invalid option, refuse to be probed and to create a client,
/// both with an error that starts with the `call` that set the option.
///
/// # Panics
///
/// If they accept the option, or return another error.
pub async fn assert_option_refused(agents: &dyn AgentClientFactory, call: &str) {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));

    let probed = agents.probe().await.expect_err(call).to_string();
    let created = agents.create(spec).expect_err(call).to_string();

    assert!(probed.starts_with(&format!("{call}: ")), "{probed}");
    assert_eq!(created, probed, "{call}");
}
