//! Agents of one scenario, and the sessions that a suite makes of them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, Events, Gate, Grants, HookDecision,
    InstructionName, MessageStream, Mode, OuterSandbox, ProjectPaths, Prompt, RunId, RunObserver,
    Sandbox, SeededIds, SessionKey, SessionSpec, StreamEvent, SystemClock, Toolbox,
};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use super::harness::{AgentHarness, Scenario};
use super::probe_tool::ProbeTool;
use super::record::{Happening, Record, RecordingHook};
use super::survivors::SessionProcesses;
use crate::conformance::checks::{Finding, Flaw, within};

/// The reason of every denial.
pub(super) const REASON: &str = "the conformance suite denies this call, whatever it is";

/// How the gate of a session decides.
#[derive(Clone, Debug)]
pub(super) enum GateIs {
    Open,
    /// Open, and the agent is to be in an outer sandbox of its backend.
    OpenInWalls,
    /// Open, but it answers only once this is cancelled.
    OpenAfter(CancellationToken),
    Closed,
}

/// Agents of one scenario.
pub(super) struct Stand<'s> {
    subject: &'s Subject<'s>,
    agents: Arc<dyn AgentClientFactory>,
    project: PathBuf,
    pub(super) limit: Duration,
    pub(super) capabilities: Capabilities,
    scenario: Scenario,
    sessions: u32,
    run: RunId,
}

/// A session that was made but not yet told anything.
pub(super) struct Session {
    pub(super) client: Box<dyn AgentClient>,
    pub(super) record: Record,
    pub(super) key: SessionKey,
    pub(super) cwd: PathBuf,
    /// The place of the session in the tree of its run.
    pub(super) events: Events,
}

impl<'s> Stand<'s> {
    /// Asks the harness for agents that play `scenario`, and the agents for what they can do.
    pub(super) async fn of(subject: &'s Subject<'s>, scenario: &Scenario) -> Finding<Self> {
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

    /// Makes a session.
    pub(super) fn session(&mut self, gate: GateIs) -> Finding<Session> {
        self.create(gate, |_| ()).map_err(|error| {
            Flaw::Failed(format!("no client was made ({}): {error}", error.code()))
        })
    }

    /// Makes a session of a spec that `change` has changed.
    pub(super) fn create(
        &mut self,
        gate: GateIs,
        change: impl FnOnce(&mut SessionSpec),
    ) -> Result<Session, AgentError> {
        self.sessions += 1;
        let key = SessionKey {
            run: self.run.clone(),
            number: self.sessions,
        };
        let record = Record::new();
        let is_in_walls = matches!(gate, GateIs::OpenInWalls);
        let (answer, answers_after) = match gate {
            GateIs::Open | GateIs::OpenInWalls => (HookDecision::Approve, None),
            GateIs::OpenAfter(token) => (HookDecision::Approve, Some(token)),
            GateIs::Closed => (HookDecision::block(REASON), None),
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
        // Not the mode that a call has by default, so that a lost one shows.
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

/// What sessions are told. Their agents are scripted and do not listen.
pub(super) fn prompt() -> Prompt {
    Prompt::new("Do what you are scripted to do.")
}

/// Reads `stream` to its end and writes down what it gives.
pub(super) async fn read(
    stream: &mut MessageStream<'_>,
    record: &Record,
    limit: Duration,
) -> Finding {
    // No scenario needs so many; a stream that repeats itself is never over.
    const MOST: usize = 10_000;
    let reading = async {
        for _ in 0..MOST {
            match stream.next().await {
                Some(item) => record.note_item(item),
                None => return Ok(()),
            }
        }
        Err(Flaw::Failed(format!(
            "the stream gave {MOST} items and did not end"
        )))
    };
    within(limit, "the turn", reading).await?
}

/// Reads `stream` up to the first item that `is_it`.
pub(super) async fn read_until(
    stream: &mut MessageStream<'_>,
    record: &Record,
    limit: Duration,
    what: &str,
    is_it: impl Fn(&StreamEvent) -> bool,
) -> Finding {
    let reading = async {
        while let Some(item) = stream.next().await {
            let found = item.as_ref().is_ok_and(&is_it);
            record.note_item(item);
            if found {
                return Ok(());
            }
        }
        Err(Flaw::Failed(format!(
            "the stream ended before there was {what}"
        )))
    };
    within(limit, what, reading).await?
}

/// Disposes of a client.
pub(super) async fn dispose(client: Box<dyn AgentClient>, limit: Duration) -> Finding {
    within(limit, "dispose", client.dispose())
        .await?
        .map_err(|error| Flaw::Failed(format!("dispose failed: {error}")))
}

/// Tells whether the gate was asked.
pub(super) fn is_asked(happening: &Happening) -> bool {
    matches!(happening, Happening::Asked(_))
}

/// Tells whether our tool ran.
pub(super) fn is_ran(happening: &Happening) -> bool {
    matches!(happening, Happening::Ran { .. })
}

/// The limit for later sessions once a process was left: the check has failed already.
const LIMIT_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The backend under test. It records the processes of every session.
pub(super) struct Subject<'h> {
    pub(super) harness: &'h dyn AgentHarness,
    processes: Mutex<Processes>,
}

#[derive(Default)]
struct Processes {
    /// Those of sessions that nobody has looked at yet.
    unexamined: Vec<SessionProcesses>,
    /// One finding for each session that was looked at.
    findings: Vec<Finding>,
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
    pub(super) async fn look_for_survivors(&self, label: &str) -> Finding {
        let sessions = std::mem::take(&mut self.lock().unexamined);
        let mut first = Ok(());
        for session in sessions {
            let has_failed = self.lock().findings.iter().any(is_failure);
            let limit = match has_failed {
                true => self.harness.time_limit().min(LIMIT_AFTER_FAILURE),
                false => self.harness.time_limit(),
            };
            let found = session.are_gone(limit).await.map_err(|flaw| match flaw {
                Flaw::Failed(what) => Flaw::Failed(format!("{label}: {what}")),
                untestable => untestable,
            });
            self.lock().findings.push(found.clone());
            first = first.and(found);
        }
        first
    }

    /// Returns one finding for each session so far.
    pub(super) fn process_findings(&self) -> Vec<Finding> {
        self.lock().findings.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Processes> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_failure(finding: &Finding) -> bool {
    matches!(finding, Err(Flaw::Failed(_)))
}
