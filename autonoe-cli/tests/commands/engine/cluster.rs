//! A cluster in a folder: an engine that every start of its program finds as it was left.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Engine, EngineError, Failure, JOURNAL_JOB, JournalAsk, JournalPage, Mode, Placement, Project,
    ProjectName, Retry, RunId, RunInstruction, RunLimits, RunOutcome, RunPhase, RunSpec, RunView,
    SessionsRun,
};
use autonoe_harness::serve_engine;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::unix::pipe;

use crate::commands::setting::Setting;

/// Says to this program that it is an engine, and where its cluster is.
const CLUSTER: &str = "AUTONOE_TEST_CLUSTER";

/// How often it is looked whether a run has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A run of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) spec: RunSpec,
    pub(crate) place: Placement,
    pub(crate) phase: RunPhase,
    pub(crate) host: Option<String>,
    pub(crate) trouble: Option<String>,
    pub(crate) told: Vec<RunInstruction>,
    pub(crate) outcome: Option<RunOutcome>,
}

/// The cluster, in a folder. Hosts are folders in it, with projects in them.
#[derive(Clone, Debug)]
pub(crate) struct Cluster(PathBuf);

impl Cluster {
    pub(crate) fn of(setting: &Setting) -> Self {
        Self(setting.project().join("cluster"))
    }

    pub(crate) fn run(&self, id: &str) -> Option<Run> {
        self.runs().remove(id)
    }

    /// Changes a run, as a worker would.
    pub(crate) fn change(&self, id: &str, change: impl FnOnce(&mut Run)) {
        let _alone = self.alone();
        let mut runs = self.runs();
        change(runs.get_mut(id).expect("it was submitted"));
        self.write(&runs);
    }

    /// Returns what the engine program was started with, each time.
    pub(crate) fn asked(&self) -> String {
        fs::read_to_string(self.0.join("asked")).expect("it was started")
    }

    /// Keeps others from changing runs.
    fn alone(&self) -> File {
        fs::create_dir_all(&self.0).expect("writable");
        let lock = File::create(self.0.join("lock")).expect("writable");
        lock.lock().expect("Linux has locks");
        lock
    }

    /// Adds lines to the journal of a project on a host.
    pub(crate) fn journal(&self, host: &str, project: &str, lines: &str) {
        let folder = self.0.join(host).join(project).join(".autonoe");
        fs::create_dir_all(&folder).expect("writable");
        let path = folder.join("journal.jsonl");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + lines).expect("writable");
    }

    /// Makes the folder of a project on a host.
    pub(crate) fn project(&self, host: &str, project: &str) -> PathBuf {
        let folder = self.0.join(host).join(project);
        fs::create_dir_all(&folder).expect("writable");
        folder
    }

    fn runs(&self) -> BTreeMap<String, Run> {
        match fs::read(self.0.join("runs.json")) {
            Ok(text) => serde_json::from_slice(&text).expect("runs"),
            Err(_) => BTreeMap::new(),
        }
    }

    fn write(&self, runs: &BTreeMap<String, Run>) {
        // Nobody reads half of it.
        let half = self.0.join(format!("runs.{}", std::process::id()));
        fs::write(&half, serde_json::to_vec(runs).expect("JSON")).expect("writable");
        fs::rename(half, self.0.join("runs.json")).expect("writable");
    }

    fn known(&self, id: &RunId) -> Result<Run, EngineError> {
        let run = self.run(id.as_str());
        run.ok_or_else(|| EngineError::Unknown(id.clone()))
    }

    /// Reads a page on a host. One that is away never answers.
    fn page(&self, run: &Run) -> Option<RunOutcome> {
        let host = self.0.join(run.place.host.as_ref()?);
        let ask: JournalAsk = serde_json::from_value(run.spec.input.clone()).ok()?;
        let project = Project::find(&ask.project.below(&host), None).ok()?;
        Some(match JournalPage::read(&project, &ask.run, ask.after) {
            Ok(page) => RunOutcome::succeeded(serde_json::to_value(page).expect("JSON")),
            Err(error) => {
                RunOutcome::failed(Failure::from_error("journal", &error, Retry::Useless))
            }
        })
    }
}

#[async_trait]
impl Engine for Cluster {
    async fn submit(&self, spec: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let id = spec.id.clone();
        if place.host.as_deref() == Some("nowhere") {
            let reason = "there is no such host".to_owned();
            return Err(EngineError::Refused { run: id, reason });
        }
        let _alone = self.alone();
        let mut runs = self.runs();
        if let Some(known) = runs.get(id.as_str()) {
            return match known.spec == spec {
                true => Ok(id),
                false => Err(EngineError::Conflict(id)),
            };
        }
        let run = Run {
            spec,
            place,
            phase: RunPhase::Waiting,
            host: None,
            trouble: None,
            told: Vec::new(),
            outcome: None,
        };
        runs.insert(id.to_string(), run);
        self.write(&runs);
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

    async fn instruct(&self, id: &RunId, told: RunInstruction) -> Result<(), EngineError> {
        if self.known(id)?.outcome.is_some() {
            return Err(EngineError::Ended(id.clone()));
        }
        self.change(id.as_str(), |run| {
            match told {
                RunInstruction::Pause => run.phase = RunPhase::Paused,
                RunInstruction::Resume => run.phase = RunPhase::Running,
                RunInstruction::Say(_) => {}
            }
            run.told.push(told);
        });
        Ok(())
    }

    async fn status(&self, id: &RunId) -> Result<RunView, EngineError> {
        let run = self.known(id)?;
        let mut view = RunView::new(id.clone());
        view.phase = run.phase;
        view.host = run.host;
        view.trouble = run.trouble;
        view.spec = Some(run.spec);
        view.outcome = run.outcome;
        Ok(view)
    }

    async fn wait(&self, id: &RunId) -> Result<RunOutcome, EngineError> {
        loop {
            let run = self.known(id)?;
            if let Some(outcome) = &run.outcome {
                return Ok(outcome.clone());
            }
            if run.spec.job == JOURNAL_JOB
                && let Some(page) = self.page(&run)
            {
                return Ok(page);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Gives the command an engine program, found on its PATH, whose cluster is in the project.
pub(crate) fn with_cluster(setting: Setting) -> Setting {
    let cluster = Cluster::of(&setting).0;
    let own = std::env::current_exe().expect("this program");
    // What runs tests says so on its standard output, which is not for the other side.
    let script = format!(
        "/bin/mkdir -p '{cluster}'\n\
         echo \"$@\" >> '{cluster}/asked'\n\
         export {CLUSTER}='{cluster}'\n\
         exec '{own}' commands::engine::cluster::engine_program --exact --nocapture 3>&1 1>/dev/null",
        cluster = cluster.display(),
        own = own.display(),
    );
    setting.program("autonoe-worker", &script)
}

/// A cluster with an engine program, in a project.
pub(crate) fn cluster() -> (Setting, Cluster) {
    let setting = with_cluster(Setting::new());
    let cluster = Cluster::of(&setting);
    (setting, cluster)
}

#[test]
fn engine_program() {
    let Some(folder) = std::env::var_os(CLUSTER) else {
        // Not started as one: nobody asks.
        let folder = tempfile::tempdir().expect("a folder");
        let cluster = Cluster(folder.path().to_owned());
        let served =
            block_on(async { serve_engine(&cluster, tokio::io::empty(), tokio::io::sink()).await });
        served.expect("nothing was asked");
        return;
    };
    let cluster = Cluster(Path::new(&folder).to_owned());
    let served = block_on(async {
        let open = |path: &str, is_output: bool| {
            let mut options = OpenOptions::new();
            options.read(!is_output).write(is_output);
            options.open(path).expect("it is open")
        };
        let input = pipe::Receiver::from_file(open("/proc/self/fd/0", false)).expect("a pipe");
        let output = pipe::Sender::from_file(open("/proc/self/fd/3", true)).expect("a pipe");
        serve_engine(&cluster, input, output).await
    });
    served.expect("it is asked rightly");
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

/// The run on the project `shop` that `autonoe submit shop --run ID` submits.
pub(crate) fn on_shop(id: &str) -> RunSpec {
    let shop = ProjectName::new("shop").expect("a name");
    let run = SessionsRun::on_project(&shop, RunLimits::new(Mode::Run));
    run.named(RunId::new(id)).expect("JSON")
}

/// What a run on `shop` has written down after two sessions.
pub(crate) fn journal(id: &str) -> String {
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
pub(crate) fn written(id: &str, line: Value) -> Value {
    let mut whole = json!({"v": 1, "run": id, "at": "2026-01-01T00:00:00Z"});
    let Value::Object(line) = line else {
        panic!("{line}");
    };
    whole.as_object_mut().expect("an object").extend(line);
    whole
}

pub(crate) fn session_ended(number: u32) -> Value {
    let tokens = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0});
    json!({"line": "session_ended", "number": number, "result": {"end": "outcome",
        "outcome": "completed", "cost": {"knownUsd": "0.05", "unknownParts": 0},
        "tokens": tokens, "durationMs": 2000, "activity": "some"}})
}

/// What that run came to.
pub(crate) fn done(id: &str) -> RunOutcome {
    let tokens = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0});
    RunOutcome::succeeded(
        json!({"run": id, "exitReason": "all_passed", "iterations": 2, "sessions": 2,
        "deliverablesPassedCount": 1, "deliverablesTotalCount": 1, "blockedCount": 0,
        "verifiedCount": 0, "verifiedTotalCount": 0, "totalDurationMs": 4000,
        "totalCost": {"knownUsd": "0.1", "unknownParts": 0}, "tokens": tokens}),
    )
}

/// Gives the command a cluster with runs: `shop-1` has ended on `build-1`, and `held` is under way
/// there.
pub(crate) fn with_runs(setting: Setting) -> Setting {
    let setting = with_cluster(setting);
    let cluster = Cluster::of(&setting);
    block_on(async {
        for id in ["shop-1", "held"] {
            let taken = cluster.submit(on_shop(id), Placement::anywhere()).await;
            taken.expect("it is new");
            cluster.journal("build-1", "shop", &journal(id));
            cluster.change(id, |run| {
                run.phase = RunPhase::Running;
                run.host = Some("build-1".to_owned());
            });
        }
    });
    cluster.change("shop-1", |run| {
        run.phase = RunPhase::Ended;
        run.outcome = Some(done("shop-1"));
    });
    setting
}
