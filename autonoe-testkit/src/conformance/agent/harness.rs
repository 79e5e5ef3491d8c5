//! How a suite gets agents that do what it needs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentClientFactory, Gate, Grants, ProjectPaths, RunId, SessionKey, SessionSpec, Toolbox,
};
use jiff::Timestamp;
use serde_json::Value;

/// Makes agents of one backend do what a suite needs.
///
/// An implementer owes agents of the real backend behind which something is
/// scripted: a model server, a program, a recording. The sessions themselves
/// (gate, tools, prompt) come from the suite.
#[async_trait]
pub trait AgentHarness: Send + Sync {
    /// Returns agents that play `scenario`, each session anew, or `None` if they cannot.
    ///
    /// Up to three sessions are made of what is returned, two of them at the
    /// same time. The checks of a scenario that cannot be played are skipped,
    /// and listed as such.
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>>;

    /// Returns the directory that sessions work in. It must exist.
    fn project(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// Returns how long anything may take, in tokio's time.
    ///
    /// Processes that a session leaves have as long to end, in real time; time in which the machine
    /// is too busy to run the suite does not count.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// What an agent is to do in a session, whatever it is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scenario {
    /// Says `text` and ends its turn as completed. Uses no tool.
    Says {
        /// What it says.
        text: String,
    },
    /// Runs `command` with the backend's own shell tool, once, takes whatever
    /// comes back (also a refusal), and ends its turn as completed.
    RunsCommand {
        /// The whole text for the shell.
        command: String,
    },
    /// Makes all of `calls` in one message, so that they run at the same time
    /// if the backend can do that; takes whatever comes back, and ends its
    /// turn as completed.
    UsesTools {
        /// The calls, each of one of our tools.
        calls: Vec<ProbeCall>,
    },
    /// Says something, then neither says nor does anything until it is stopped.
    Hangs,
    /// Breaks in the middle of its turn: its program dies, or its service
    /// fails for good.
    Fails,
    /// Finds that the quota of its subscription is spent.
    ///
    /// Asked for only if the backend says that it can tell when it comes back.
    HitsQuota {
        /// When the quota comes back.
        resets_at: Timestamp,
    },
}

/// A call of one of our tools.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProbeCall {
    /// The tool, by its name in the session's [`Toolbox`].
    pub tool: String,
    /// What it is called with.
    pub input: Value,
}

impl ProbeCall {
    pub(super) fn new(tool: &str, input: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            input,
        }
    }

    /// Returns the name under which agents call the tool, for example `mcp__autonoe__probe`.
    pub fn qualified_name(&self) -> String {
        Toolbox::qualified_name(&self.tool)
    }
}

/// Asserts that `agents`, which have an invalid option, refuse to be probed and to create a client,
/// both with an error that begins with the `call` that set the option.
///
/// # Panics
///
/// They accept the option, or the error is another one.
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
