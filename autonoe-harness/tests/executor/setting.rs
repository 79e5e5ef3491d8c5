//! What the tests share.

use std::path::Path;
use std::sync::Arc;

use autonoe_core::{Capabilities, HookCoverage, Support, Verdict};
use autonoe_harness::{AgentExecutor, Execution, ExecutionResult, Executor, Task};
use autonoe_process::Commands;
use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
use tempfile::TempDir;

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An executor on scripts, in a folder that goes with the test.
pub(crate) struct Stage {
    pub(crate) agents: Arc<ScriptedAgents>,
    pub(crate) executor: AgentExecutor,
    pub(crate) folder: TempDir,
}

impl Stage {
    pub(crate) fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        Self::of(ScriptedAgents::new(scripts))
    }

    pub(crate) fn of(agents: ScriptedAgents) -> Self {
        let agents = Arc::new(agents);
        let folder = tempfile::tempdir().expect("a folder");
        let executor = AgentExecutor::new("codex", agents.clone(), folder.path())
            .clock(VirtualClock::in_real_time())
            .sessions(|builder| builder.bash_security(|_: &str| Verdict::Allow));
        Self {
            agents,
            executor,
            folder,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn run(&self, task: &Task) -> ExecutionResult {
        let result = self.executor.run(task, &Execution::default()).await;
        result.expect("the task is right")
    }
}

pub(crate) fn task(goal: &str) -> Task {
    Task::new("T-1", goal).expect("an id")
}

pub(crate) fn done() -> SessionScript {
    SessionScript::new("work").says("Done.").ends()
}

/// Runs commands as the tests may.
pub(crate) fn commands() -> Commands {
    Commands::unconfined("/").env("PATH", PATH)
}

/// A backend that does not ask about every call.
pub(crate) fn asks_sometimes() -> Capabilities {
    Capabilities::new("agent")
        .with_hooks(HookCoverage::AskedOnly)
        .with_sandbox(Support::Yes)
        .with_in_process_tools(Support::Yes)
}
