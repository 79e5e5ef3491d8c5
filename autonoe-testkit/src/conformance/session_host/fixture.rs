//! Fixture of the session host checks: the project in which a host works, and its agents.

/// Actions of the suite's sessions, passed in the prompt.
pub(super) mod does {
    /// Ends at once.
    pub(in super::super) const GIVE: &str = "[conformance: give]";
    /// Ends once it is released.
    pub(in super::super) const HOLD: &str = "[conformance: hold]";
    /// Plans a deliverable once it is released.
    pub(in super::super) const PLAN: &str = "[conformance: plan]";
}

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, SessionControl, SessionOutcome, Support,
};
use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::GateDecision;
use autonoe_core::time::{AgentSessionId, Epoch, SessionKey};
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, MessageStream, RunId,
    SessionSpec, StreamEvent, ToolContext,
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::conformance::checks::{CheckOutcome, Flaw};

/// The working environment of a session host in a check: a separate project, and its agents.
#[derive(Debug)]
pub struct HostProject {
    _dir: TempDir,
    project: PathBuf,
    signs: PathBuf,
}

impl HostProject {
    pub(super) fn new() -> std::io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let (project, signs) = (dir.path().join("project"), dir.path().join("signs"));
        std::fs::create_dir(&project)?;
        std::fs::create_dir(&signs)?;
        Ok(Self {
            _dir: dir,
            project,
            signs,
        })
    }

    /// Returns the project directory. Its spec and its state are not shared.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the run that the sessions belong to.
    pub fn run(&self) -> RunId {
        run()
    }

    /// Returns the folder of [`HostedAgents::at`].
    pub fn event_folder(&self) -> &Path {
        &self.signs
    }

    /// Returns the agents for a host in this process.
    pub fn agents(&self) -> Arc<dyn AgentClientFactory> {
        Arc::new(HostedAgents::at(&self.signs))
    }
}

/// The number of hosts that share a project.
const HOSTS: usize = 4;

/// A project and its hosts.
pub(super) struct Fixture {
    _host_project: HostProject,
    hosts: Vec<Arc<dyn SessionHost>>,
    requests: AtomicUsize,
    pub(super) events: EventFolder,
}

/// The result of attaching to a session.
pub(super) type Attached = Result<HostedOutcome, SessionHostError>;

impl Fixture {
    pub(super) async fn new(
        make: &impl AsyncFn(&HostProject) -> Arc<dyn SessionHost>,
    ) -> CheckOutcome<Self> {
        let host_project = HostProject::new()
            .map_err(|error| Flaw::Untestable(format!("cannot create a folder: {error}")))?;
        let mut hosts = Vec::new();
        for _ in 0..HOSTS {
            hosts.push(make(&host_project).await);
        }
        Ok(Self {
            events: EventFolder::in_folder(host_project.event_folder()),
            _host_project: host_project,
            hosts,
            requests: AtomicUsize::new(0),
        })
    }

    /// Returns a host in round-robin order.
    pub(super) fn host(&self) -> &dyn SessionHost {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        &*self.hosts[number % HOSTS]
    }

    /// Attaches to a session through another host.
    pub(super) async fn attach(&self, number: u32, epoch: u64, does: &str) -> Attached {
        self.attach_until(number, epoch, does, CancellationToken::new())
            .await
    }

    pub(super) async fn attach_until(
        &self,
        number: u32,
        epoch: u64,
        does: &str,
        cancelled: CancellationToken,
    ) -> Attached {
        let session = session(InstructionName::Coding, does);
        self.host()
            .attach_or_start(&key(number), Epoch(epoch), session, &|_| {}, cancelled)
            .await
    }

    /// Attaches through another host to a session that ends at once, which the host must run.
    pub(super) async fn run_session(&self, number: u32, epoch: u64) -> CheckOutcome<HostedOutcome> {
        expect_outcome(self.attach(number, epoch, does::GIVE).await)
    }

    /// Checks that `count` agents have started, and that all of them have ended.
    pub(super) async fn check_started_and_ended(&self, count: usize) -> CheckOutcome {
        self.events.until(ENDED, count).await;
        let starts = self.events.count(STARTED);
        ensure!(starts == count, "{starts} agents have started, not {count}");
        Ok(())
    }

    /// Polls until `is_so` returns true.
    pub(super) async fn until<F: Future<Output = bool>>(&self, is_so: impl Fn() -> F) {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

pub(super) fn run() -> RunId {
    RunId::new("conformance")
}

pub(super) fn key(number: u32) -> SessionKey {
    SessionKey { run: run(), number }
}

pub(super) fn session(instruction: InstructionName, does: &str) -> HostedSession {
    HostedSession::new(instruction).prompt(does)
}

pub(super) fn expect_outcome(attached: Attached) -> CheckOutcome<HostedOutcome> {
    attached.map_err(|error| Flaw::Failed(format!("there is no outcome: {error}")))
}

/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A folder in which agents record their actions, and which signals when they may end.
#[derive(Clone, Debug)]
pub(super) struct EventFolder {
    folder: PathBuf,
}

impl EventFolder {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Records an event.
    pub(super) fn record(&self, event: &str) {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.log());
        // A lost record fails the check.
        let _ = log.and_then(|mut log| log.write_all(format!("{event}\n").as_bytes()));
    }

    /// Counts how often an event was recorded.
    pub(super) fn count(&self, event: &str) -> usize {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().filter(|line| *line == event).count()
    }

    /// Waits until an event was recorded `count` times.
    pub(super) async fn until(&self, event: &str, count: usize) {
        while self.count(event) < count {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Lets holding agents end.
    pub(super) fn release(&self) {
        let _ = fs::write(self.released(), "");
    }

    /// Waits until holding agents may end.
    pub(super) async fn wait_for_release(&self) {
        while !self.released().exists() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn released(&self) -> PathBuf {
        self.folder.join("released")
    }
}

/// An agent has started.
pub(super) const STARTED: &str = "begun";

/// An agent has ended.
pub(super) const ENDED: &str = "gone";

/// An agent has received the message of the suite.
pub(super) const RECEIVED: &str = "told";

/// An agent has tried to write to the ledger.
pub(super) const TRIED: &str = "tried";

/// A steering message of the operator.
pub(super) const MESSAGE: &str = "[conformance: the tests come first]";

/// The agents that [`session_host`](super::session_host) uses.
///
/// Their prompts contain their actions. They record their lifecycle in a folder, so that they may
/// run in another process than the suite.
#[derive(Clone, Debug)]
pub struct HostedAgents {
    signs: EventFolder,
}

impl HostedAgents {
    /// Creates agents that record their lifecycle in the folder
    /// `HostProject::signs`.
    pub fn at(signs: &Path) -> Self {
        Self {
            signs: EventFolder::in_folder(signs),
        }
    }
}

#[async_trait]
impl AgentClientFactory for HostedAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("hosted agents")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            // A project has a browser by default, which these agents do not use.
            .with_mcp_servers(Support::Yes)
            .with_in_process_tools(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Ok(Box::new(HostedAgent {
            life: EndMarker(self.signs.clone()),
            spec,
        }))
    }
}

struct HostedAgent {
    spec: SessionSpec,
    life: EndMarker,
}

/// Records on drop that an agent has ended.
struct EndMarker(EventFolder);

impl Drop for EndMarker {
    fn drop(&mut self) {
        self.0.record(ENDED);
    }
}

#[async_trait]
impl AgentClient for HostedAgent {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (spec, signs) = (&self.spec, &self.life.0);
        let started = StreamEvent::started(AgentSessionId::new("hosted"), spec.model.clone());
        let end = StreamEvent::end(SessionOutcome::Completed, Some(CostUsd::from_cents(5)));
        let working = stream::once(work(spec, signs, prompt.text)).flat_map(stream::iter);
        stream::iter([started, StreamEvent::text("I begin.")])
            .chain(working)
            .chain(stream::iter([end]))
            .map(Ok)
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

async fn work(spec: &SessionSpec, signs: &EventFolder, prompt: String) -> Vec<StreamEvent> {
    if prompt.contains(MESSAGE) {
        signs.record(RECEIVED);
    }
    signs.record(STARTED);
    if prompt.contains(does::GIVE) {
        return Vec::new();
    }
    signs.wait_for_release().await;
    match spec.instruction {
        InstructionName::Initializer => {
            let planned = plan(spec).await;
            signs.record(TRIED);
            planned
        }
        _ => Vec::new(),
    }
}

/// Tries to write a deliverable to the ledger.
async fn plan(spec: &SessionSpec) -> Vec<StreamEvent> {
    let (id, tool) = ("call-1", "create");
    let name = Toolbox::qualified_name(tool);
    let input = deliverables();
    let call = spec.tool_call(id, &name, input.clone());
    let (status, output) = match spec.gate.decide(&call).await {
        GateDecision::Deny { reason, .. } => (ToolStatus::Denied, reason),
        GateDecision::Allow { .. } => {
            let context = ToolContext::new(spec.key.clone()).with_call_id(id);
            match spec.tools.call(tool, input.clone(), context).await {
                Ok(output) => (ToolStatus::Ok, output.output),
                Err(error) => (ToolStatus::Error, error.to_string()),
            }
        }
    };
    vec![
        StreamEvent::tool_invocation(id, &name, input),
        StreamEvent::tool_response(id, output, status),
    ]
}

fn deliverables() -> Value {
    json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]})
}
