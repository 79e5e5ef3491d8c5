//! [`Fixture`] starts the sessions of a scenario on the [`Subject`], the backend under test.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::agent::{OuterSandbox, Prompt, Sandbox};
use autonoe_core::event::{Events, InstructionName};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::{SeededIds, SessionKey, SystemClock};
use autonoe_core::tool::Toolbox;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, HookDecision, MessageStream, Mode,
    RunId, RunObserver, SessionSpec, StreamEvent,
};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use super::leftover_processes::SessionProcesses;
use super::probe_tool::ProbeTool;
use super::record::{Record, RecordEntry, RecordingHook};
use super::{AgentHarness, Scenario};
use crate::conformance::checks::{CheckOutcome, Flaw, within};

/// The reason of every denial.
pub(super) const REASON: &str = "the conformance suite denies this call, whatever it is";

/// The decision of a session's gate.
#[derive(Clone, Debug)]
pub(super) enum GateMode {
    Open,
    /// Open, and the backend must run the agent in an outer sandbox.
    OpenInSandbox,
    /// Open, but it decides only once this is cancelled.
    OpenAfter(CancellationToken),
    Closed,
}

/// Agents of one scenario.
pub(super) struct Fixture<'s> {
    subject: &'s Subject<'s>,
    agents: Arc<dyn AgentClientFactory>,
    project: PathBuf,
    pub(super) limit: Duration,
    pub(super) capabilities: Capabilities,
    scenario: Scenario,
    sessions: u32,
    run: RunId,
}

/// A session that was created but not yet prompted.
pub(super) struct Session {
    pub(super) client: Box<dyn AgentClient>,
    pub(super) record: Record,
    pub(super) key: SessionKey,
    pub(super) cwd: PathBuf,
    /// The position of the session in the trace tree of its run.
    pub(super) events: Events,
}

impl<'s> Fixture<'s> {
    /// Requests agents that play `scenario` from the harness, and probes their capabilities.
    pub(super) async fn new(subject: &'s Subject<'s>, scenario: &Scenario) -> CheckOutcome<Self> {
        let harness = subject.harness;
        let limit = harness.time_limit();
        let agents = harness.agents(scenario).await.ok_or_else(|| {
            Flaw::Untestable(format!("the harness has no agents for {}", name(scenario)))
        })?;
        let capabilities = within(limit, "probe", agents.probe())
            .await?
            .map_err(|error| format!("probe failed: {error}"))?;
        let project = harness.project();
        let run = RunId::new(format!("conformance-{}", name(scenario)));
        Ok(Self {
            subject,
            agents,
            project,
            limit,
            capabilities,
            scenario: scenario.clone(),
            sessions: 0,
            run,
        })
    }

    /// Creates a session.
    pub(super) fn session(&mut self, gate: GateMode) -> CheckOutcome<Session> {
        self.create(gate, |_| ()).map_err(|error| {
            Flaw::Failed(format!(
                "cannot create a client ({}): {error}",
                error.code()
            ))
        })
    }

    /// Creates a session with a spec that `change` has modified.
    pub(super) fn create(
        &mut self,
        gate: GateMode,
        change: impl FnOnce(&mut SessionSpec),
    ) -> Result<Session, AgentError> {
        self.sessions += 1;
        let key = SessionKey {
            run: self.run.clone(),
            number: self.sessions,
        };
        let record = Record::new();
        let is_in_walls = matches!(gate, GateMode::OpenInSandbox);
        let (answer, answers_after) = match gate {
            GateMode::Open | GateMode::OpenInSandbox => (HookDecision::Approve, None),
            GateMode::OpenAfter(token) => (HookDecision::Approve, Some(token)),
            GateMode::Closed => (HookDecision::block(REASON), None),
        };
        let hook = RecordingHook {
            record: record.clone(),
            answer,
            answers_after,
        };
        let gate =
            Gate::new(ProjectPaths::new(&self.project), Grants::none()).with_hook(Arc::new(hook));
        let tools = Toolbox::new([Arc::new(ProbeTool::new(record.clone())) as Arc<_>]);
        let mut spec = SessionSpec::new(key.clone(), &self.project, gate, tools);
        // Not the default mode of a call, so that a lost mode is visible.
        spec.mode = Mode::Sync;
        spec.instruction = InstructionName::Sync;
        let observers: Vec<Arc<dyn RunObserver>> = vec![Arc::new(record.clone())];
        let ids = Arc::new(SeededIds::new(u64::from(self.sessions)));
        spec.events = Events::new(observers, Arc::new(SystemClock), ids);
        spec.span = *spec.events.span();
        let events = spec.events.clone();
        if !self.capabilities.sandbox.is_yes() {
            spec.sandbox = Sandbox::Off;
        }
        spec.outer_sandbox = is_in_walls.then(OuterSandbox::bubblewrap);
        let processes = SessionProcesses::new(&self.project, &self.scenario);
        let (name, value) = processes.variable();
        spec.environment.insert(name.to_owned(), value.to_owned());
        self.subject.add(processes);
        change(&mut spec);
        let cwd = spec.cwd.clone();
        let client = self.agents.create(spec)?;
        Ok(Session {
            client,
            record,
            key,
            cwd,
            events,
        })
    }
}

fn name(scenario: &Scenario) -> &'static str {
    match scenario {
        Scenario::Says { .. } => "says",
        Scenario::RunsCommand { .. } => "runs-command",
        Scenario::UsesTools { .. } => "uses-tools",
        Scenario::Hangs => "hangs",
        Scenario::Fails => "fails",
        Scenario::HitsQuota { .. } => "hits-quota",
    }
}

/// The prompt of all sessions. Their agents are scripted and ignore it.
pub(super) fn prompt() -> Prompt {
    Prompt::new("Do what you are scripted to do.")
}

/// Reads `stream` to its end and records its items.
pub(super) async fn read(
    stream: &mut MessageStream<'_>,
    record: &Record,
    limit: Duration,
) -> CheckOutcome {
    // No scenario needs so many; a stream that repeats itself never ends.
    const MOST: usize = 10_000;
    let reading = async {
        for _ in 0..MOST {
            match stream.next().await {
                Some(item) => record.push_item(item),
                None => return Ok(()),
            }
        }
        Err(Flaw::Failed(format!(
            "the stream gave {MOST} items and did not end"
        )))
    };
    within(limit, "the turn", reading).await?
}

/// Reads `stream` up to the first item for which `is_it` returns true.
pub(super) async fn read_until(
    stream: &mut MessageStream<'_>,
    record: &Record,
    limit: Duration,
    expected: &str,
    is_it: impl Fn(&StreamEvent) -> bool,
) -> CheckOutcome {
    let reading = async {
        while let Some(item) = stream.next().await {
            let found = item.as_ref().is_ok_and(&is_it);
            record.push_item(item);
            if found {
                return Ok(());
            }
        }
        Err(Flaw::Failed(format!(
            "the stream ended before there was {expected}"
        )))
    };
    within(limit, expected, reading).await?
}

/// Disposes a client.
pub(super) async fn dispose(client: Box<dyn AgentClient>, limit: Duration) -> CheckOutcome {
    within(limit, "dispose", client.dispose())
        .await?
        .map_err(|error| Flaw::Failed(format!("dispose failed: {error}")))
}

/// Returns whether the entry is a call of the gate.
pub(super) fn is_gate_call(entry: &RecordEntry) -> bool {
    matches!(entry, RecordEntry::GateCalled(_))
}

/// Returns whether the entry is a start of the probe tool.
pub(super) fn is_tool_start(entry: &RecordEntry) -> bool {
    matches!(entry, RecordEntry::ToolStarted { .. })
}

/// The limit for later sessions once a process was left: the check has already failed.
const LIMIT_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The backend under test. It records the processes of every session.
pub(super) struct Subject<'h> {
    pub(super) harness: &'h dyn AgentHarness,
    processes: Mutex<Processes>,
}

#[derive(Default)]
struct Processes {
    /// The processes of sessions that were not examined yet.
    unexamined: Vec<SessionProcesses>,
    /// One finding for each examined session.
    findings: Vec<CheckOutcome>,
}

impl<'h> Subject<'h> {
    pub(super) fn new(harness: &'h dyn AgentHarness) -> Self {
        Self {
            harness,
            processes: Mutex::default(),
        }
    }

    /// Adds a session, before it is created.
    pub(super) fn add(&self, processes: SessionProcesses) {
        self.lock().unexamined.push(processes);
    }

    /// Waits until no process of the sessions since the last call is left, and records the finding
    /// under `label`.
    pub(super) async fn check_leftover_processes(&self, label: &str) -> CheckOutcome {
        let sessions = std::mem::take(&mut self.lock().unexamined);
        let mut first = Ok(());
        for session in sessions {
            let has_failed = self.lock().findings.iter().any(is_failure);
            let limit = if has_failed {
                self.harness.time_limit().min(LIMIT_AFTER_FAILURE)
            } else {
                self.harness.time_limit()
            };
            let found = session
                .wait_for_exit(limit)
                .await
                .map_err(|flaw| match flaw {
                    Flaw::Failed(problem) => Flaw::Failed(format!("{label}: {problem}")),
                    untestable => untestable,
                });
            self.lock().findings.push(found.clone());
            first = first.and(found);
        }
        first
    }

    /// Returns one finding for each session so far.
    pub(super) fn process_findings(&self) -> Vec<CheckOutcome> {
        self.lock().findings.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Processes> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_failure(finding: &CheckOutcome) -> bool {
    matches!(finding, Err(Flaw::Failed(_)))
}
