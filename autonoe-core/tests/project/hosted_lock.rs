//! Run lock of a project with hosted sessions.

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{HostedSession, SessionHost};
use autonoe_core::event::InstructionName;
use autonoe_core::project::{OpenProject, ProjectSessionHost, RunLock};
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, RunId, SessionSpec};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use tokio_util::sync::CancellationToken;

/// Agents whose processes end slowly, and keep the inherited lock until then.
struct Lingering {
    agents: ScriptedBackend,
    inherited: Mutex<Vec<Arc<File>>>,
}

impl Lingering {
    fn play(script: SessionScript) -> Arc<Self> {
        Arc::new(Self {
            agents: ScriptedBackend::new([script]),
            inherited: Mutex::default(),
        })
    }

    fn end(&self) {
        self.inherited.lock().expect("whole").clear();
    }
}

#[async_trait]
impl AgentClientFactory for Lingering {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let lock = spec.lock.clone().expect("a project has one");
        self.inherited.lock().expect("whole").push(lock);
        self.agents.create(spec)
    }
}

fn is_locked(project: &TempProject) -> bool {
    let held = RunLock::held(project.project());
    held.expect("it can be looked at").is_some()
}

/// Runs a session for at most 30 seconds.
async fn attach(project: &TempProject, agents: &Arc<Lingering>) {
    let host = ProjectSessionHost::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        agents.clone(),
    );
    let run = RunId::new("shop");
    let key = SessionKey { run, number: 1 };
    let session = HostedSession::new(InstructionName::Coding).prompt("Work.");
    let never = CancellationToken::new();
    let attaching = host.attach_or_start(&key, Epoch(1), session, &|_| {}, never);
    let _ = tokio::time::timeout(Duration::from_secs(30), attaching).await;
}

#[tokio::test(start_paused = true)]
async fn dropping_a_session_leaves_the_lock_to_its_agents_until_they_exit() {
    let project = TempProject::new();
    let agents = Lingering::play(SessionScript::new("one").says("I begin.").hangs());

    attach(&project, &agents).await;

    assert!(is_locked(&project));
    agents.end();
    // The script runs in its own task, which ends when the runtime polls it.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(!is_locked(&project));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_has_ended_frees_the_lock_whatever_its_agents_have_left() {
    let project = TempProject::new();
    let agents = Lingering::play(SessionScript::new("one").says("Done.").ends());

    attach(&project, &agents).await;

    assert!(!is_locked(&project));
}
