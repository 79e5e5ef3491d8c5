//! A cluster in memory. Its hosts are folders with projects in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{
    Engine, EngineError, Placement, ProjectName, RunInstruction, RunOutcome, RunPhase, RunSpec,
    RunView, SessionsRun,
};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_core::run::RunLimits;
use autonoe_core::{Mode, Project, RunId};
use autonoe_temporal::{Cluster, JournalError, RunSummary};
use clap::Parser;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::Printed;
use crate::args::Cli;
use crate::commands;

/// Polling interval.
const PAUSE: Duration = Duration::from_millis(10);

/// Far longer than any test takes, on the virtual clock.
const DEADLINE: Duration = Duration::from_secs(60);

/// A run of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) spec: RunSpec,
    pub(super) place: Placement,
    pub(super) phase: RunPhase,
    pub(super) host: Option<String>,
    pub(super) last_error: Option<String>,
    pub(super) instructions: Vec<RunInstruction>,
    pub(super) outcome: Option<RunOutcome>,
}

#[derive(Clone)]
pub(super) struct FakeCluster {
    hosts: Arc<TempDir>,
    runs: Arc<Mutex<BTreeMap<String, Run>>>,
}

/// The output of a finished command.
pub(super) struct CommandOutput {
    pub(super) code: u8,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl CommandOutput {
    pub(super) fn screen(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}

/// A command in progress.
#[derive(Default)]
pub(super) struct Running {
    printed: Printed,
    interrupt: Notify,
}

impl Running {
    /// Waits until the command has printed `specification`.
    pub(super) async fn until(&self, specification: &str) {
        let text = || self.printed.results() + &self.printed.notes();
        let waiting = async {
            while !text().contains(specification) {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let waited = tokio::time::timeout(DEADLINE, waiting).await;
        assert!(
            waited.is_ok(),
            "waited in vain for {specification:?}: {}",
            text()
        );
    }

    pub(super) fn interrupt(&self) {
        self.interrupt.notify_one();
    }
}

impl FakeCluster {
    pub(super) fn new() -> Self {
        Self {
            hosts: Arc::new(tempfile::tempdir().expect("a folder")),
            runs: Arc::default(),
        }
    }

    /// A cluster with two runs on `build-1`: `shop-1` has ended, and `held` is in progress.
    pub(super) fn with_runs() -> Self {
        let cluster = Self::new();
        for id in ["shop-1", "held"] {
            cluster.add(on_shop(id), Placement::anywhere());
            cluster.write("build-1", "shop", &journal(id));
            cluster.change(id, |run| {
                run.phase = RunPhase::Running;
                run.host = Some("build-1".to_owned());
            });
        }
        cluster.change("shop-1", |run| {
            run.phase = RunPhase::Ended;
            run.outcome = Some(done("shop-1"));
        });
        cluster
    }

    /// Runs a command to its end.
    pub(super) async fn run_command(&self, words: &[&str]) -> CommandOutput {
        self.run_with_script(words, async |_| {}).await
    }

    /// Runs a command and `script` concurrently.
    pub(super) async fn run_with_script(
        &self,
        words: &[&str],
        script: impl AsyncFnOnce(&Running),
    ) -> CommandOutput {
        let running = Running::default();
        let cli = match Cli::try_parse_from(["autonoe-cluster"].iter().chain(words)) {
            Ok(cli) => cli,
            Err(error) => {
                return CommandOutput {
                    code: 2,
                    stdout: String::new(),
                    stderr: error.to_string(),
                };
            }
        };
        let output = running.printed.output();
        let connect = async { Ok(self.clone()) };
        let interrupted = running.interrupt.notified();
        let command = commands::run(&cli, None, connect, &output, interrupted);
        let command = tokio::time::timeout(DEADLINE, command);
        let (ended, ()) = tokio::join!(command, script(&running));
        let code = ended.expect("it ends in time").unwrap_or_else(|error| {
            output.error(&error);
            error.code()
        });
        CommandOutput {
            code,
            stdout: running.printed.results(),
            stderr: running.printed.notes(),
        }
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, Run>> {
        self.runs.lock().expect("not poisoned")
    }

    pub(super) fn run(&self, id: &str) -> Option<Run> {
        self.runs().get(id).cloned()
    }

    /// Changes a run, as a worker would.
    pub(super) fn change(&self, id: &str, change: impl FnOnce(&mut Run)) {
        change(self.runs().get_mut(id).expect("it was submitted"));
    }

    /// Returns the folder of a project on a host, and creates it.
    pub(super) fn project(&self, host: &str, project: &str) -> PathBuf {
        let folder = self.hosts.path().join(host).join(project);
        fs::create_dir_all(&folder).expect("writable");
        folder
    }

    /// Appends lines to the journal of a project on a host.
    pub(super) fn write(&self, host: &str, project: &str, lines: &str) {
        let folder = self.project(host, project).join(".autonoe");
        fs::create_dir_all(&folder).expect("writable");
        let path = folder.join("journal.jsonl");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + lines).expect("writable");
    }

    fn known(&self, id: &RunId) -> Result<Run, EngineError> {
        let run = self.run(id.as_str());
        run.ok_or_else(|| EngineError::Unknown(id.clone()))
    }

    fn add(&self, spec: RunSpec, place: Placement) {
        let id = spec.id.to_string();
        let run = Run {
            spec,
            place,
            phase: RunPhase::Waiting,
            host: None,
            last_error: None,
            instructions: Vec::new(),
            outcome: None,
        };
        self.runs().insert(id, run);
    }
}

#[async_trait]
impl Engine for FakeCluster {
    async fn submit(&self, spec: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let id = spec.id.clone();
        match place.host.as_deref() {
            Some("nowhere") => {
                let reason = "there is no such host".to_owned();
                return Err(EngineError::Refused { run: id, reason });
            }
            Some("silent") => return std::future::pending().await,
            _ => {}
        }
        match self.run(id.as_str()) {
            Some(known) if known.spec.is_same_work(&spec) => return Ok(id),
            Some(_) => return Err(EngineError::Conflict(id)),
            None => self.add(spec, place),
        }
        Ok(id)
    }

    async fn cancel(&self, id: &RunId, reason: &str) -> Result<(), EngineError> {
        self.known(id)?;
        self.change(id.as_str(), |run| {
            if run.outcome.is_none() {
                run.phase = RunPhase::Ended;
                run.outcome = Some(RunOutcome::cancelled(reason));
            }
        });
        Ok(())
    }

    async fn instruct(&self, id: &RunId, instructions: RunInstruction) -> Result<(), EngineError> {
        if self.known(id)?.outcome.is_some() {
            return Err(EngineError::Ended(id.clone()));
        }
        self.change(id.as_str(), |run| {
            match instructions {
                RunInstruction::Pause => run.phase = RunPhase::Paused,
                RunInstruction::Resume => run.phase = RunPhase::Running,
                RunInstruction::Message(_) => {}
            }
            run.instructions.push(instructions);
        });
        Ok(())
    }

    async fn status(&self, id: &RunId) -> Result<RunView, EngineError> {
        let run = self.known(id)?;
        let mut view = RunView::new(id.clone());
        view.phase = run.phase;
        view.host = run.host;
        view.last_error = run.last_error;
        view.spec = Some(run.spec);
        view.outcome = run.outcome;
        Ok(view)
    }

    async fn wait(&self, id: &RunId) -> Result<RunOutcome, EngineError> {
        loop {
            if let Some(outcome) = self.known(id)?.outcome {
                return Ok(outcome);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

#[async_trait]
impl Cluster for FakeCluster {
    async fn journal(
        &self,
        host: &str,
        ask: JournalPageRequest,
    ) -> Result<JournalPage, JournalError> {
        let host = host.to_owned();
        let folder = ask.project.path_below(&self.hosts.path().join(&host));
        let project = Project::find(&folder, None).expect("the host has it");
        let page = JournalPage::read(&project, &ask.run, ask.after);
        page.map_err(|error| {
            let failure = Failure::from_error("journal", &error, Retry::Permanent);
            JournalError::Failed { host, failure }
        })
    }

    async fn list(&self, _: usize) -> Result<Vec<RunSummary>, EngineError> {
        Ok(Vec::new())
    }
}

/// The run on the project `shop` that `autonoe-cluster submit shop --run ID` submits.
pub(super) fn on_shop(id: &str) -> RunSpec {
    let shop = ProjectName::new("shop").expect("a name");
    let run = SessionsRun::on_project(&shop, RunLimits::new(Mode::Run));
    run.to_spec(RunId::new(id)).expect("JSON")
}

/// The journal of a run on `shop` after two sessions.
pub(super) fn journal(id: &str) -> String {
    let lines = [
        json!({"line": "flow_started", "flow": "hosted", "definition": "", "parameters": null,
            "epoch": 1}),
        json!({"line": "session_started", "number": 1, "instruction": "initializer"}),
        json!({"line": "status_changed", "session": 1, "change": {"deliverableId": "DL-001",
            "deliverableDescription": "A greeting\u{1b}[2J", "newStatus": "pending"}}),
        session_ended(1),
        json!({"line": "flow_resumed", "epoch": 1}),
        json!({"line": "session_started", "number": 2, "instruction": "coding"}),
        json!({"line": "denied", "session": 2, "tool": "Bash", "target": "rm -rf /",
            "by": "bash-security", "reason": "rm is not allowed"}),
        json!({"line": "status_changed", "session": 2, "change": {"deliverableId": "DL-001",
            "deliverableDescription": "A greeting", "previousStatus": "pending",
            "newStatus": "passed"}}),
        session_ended(2),
    ];
    lines.into_iter().fold(String::new(), |text, line| {
        format!("{text}{}\n", written(id, line))
    })
}

/// One line of a journal.
pub(super) fn written(id: &str, line: Value) -> Value {
    let mut whole = json!({"v": 1, "run": id, "at": "2026-01-01T00:00:00Z"});
    let Value::Object(line) = line else {
        panic!("{line}");
    };
    whole.as_object_mut().expect("an object").extend(line);
    whole
}

pub(super) fn session_ended(number: u32) -> Value {
    let tokens = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0});
    json!({"line": "session_ended", "number": number, "result": {"end": "outcome",
        "outcome": "completed", "cost": {"knownUsd": "0.05", "unknownParts": 0},
        "tokens": tokens, "durationMs": 2000, "activity": "some"}})
}

/// The outcome of that run.
pub(super) fn done(id: &str) -> RunOutcome {
    let tokens = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0});
    RunOutcome::succeeded(
        json!({"run": id, "exitReason": "all_passed", "iterations": 2, "sessions": 2,
        "deliverablesPassedCount": 1, "deliverablesTotalCount": 1, "blockedCount": 0,
        "verifiedCount": 0, "verifiedTotalCount": 0, "totalDurationMs": 4000,
        "totalCost": {"knownUsd": "0.1", "unknownParts": 0}, "tokens": tokens}),
    )
}
