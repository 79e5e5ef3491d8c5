//! [`AgentHarness`]: provides agents that play the scenarios of the suite.

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
    pub(super) fn new(tool: &str, input: Value) -> Self {
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
