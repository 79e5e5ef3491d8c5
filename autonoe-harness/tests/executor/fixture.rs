//! Fixture: an executor on scripted agents.

use std::path::Path;
use std::sync::Arc;

use autonoe_core::Capabilities;
use autonoe_core::agent::{HookCoverage, Support};
use autonoe_core::gate::policy::Verdict;
use autonoe_harness::{AgentExecutor, Execution, ExecutionReport, Executor, Task};
use autonoe_process::ProcessRunner;
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use tempfile::TempDir;

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An executor on scripts, in a temporary folder.
pub(crate) struct Fixture {
    pub(crate) agents: Arc<ScriptedBackend>,
    pub(crate) executor: AgentExecutor,
    pub(crate) folder: TempDir,
}

impl Fixture {
    pub(crate) fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        Self::with_backend(ScriptedBackend::new(scripts))
    }

    pub(crate) fn with_backend(agents: ScriptedBackend) -> Self {
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

    pub(crate) async fn run(&self, task: &Task) -> ExecutionReport {
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

/// Runs commands with the environment of the tests.
pub(crate) fn commands() -> ProcessRunner {
    ProcessRunner::unconfined("/").env("PATH", PATH)
}

/// A backend that can bypass the gate.
pub(crate) fn with_partial_gate() -> Capabilities {
    Capabilities::new("agent")
        .with_hooks(HookCoverage::Partial)
        .with_sandbox(Support::Yes)
        .with_in_process_tools(Support::Yes)
}
