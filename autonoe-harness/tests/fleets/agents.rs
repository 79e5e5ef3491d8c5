//! Fixture: agents that write files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, SessionSpec,
};
use autonoe_harness::{AgentExecutor, Executors};
use autonoe_testkit::{ScriptedBackend, SessionScript};

use crate::fleets::fixture::commands;

/// Agents that do their tasks: the agent of the task `x` writes `x.txt`. The model selects the
/// behaviour:
///
/// - `slow` takes a hundred times as long,
/// - `thorough` takes ten times as long, and writes `x.extra.txt` too,
/// - `broken` does nothing and says so in different words each time,
/// - `mute` says and does the same again and again,
/// - `idle` does nothing and never ends,
/// - `untidy` leaves a process behind, and writes something else each time,
/// - `lost` says the same again and again, except in an exploration: in the first one it writes a
///   file that is not part of the task, in the second one it does its task.
pub(crate) struct Agents {
    turns: PathBuf,
    pace: Duration,
    played: Mutex<Vec<Arc<ScriptedBackend>>>,
}

impl Agents {
    /// Creates agents that record their work in the file `turns`.
    pub(crate) fn new(turns: PathBuf, pace: Duration) -> Arc<Self> {
        Arc::new(Self {
            turns,
            pace,
            played: Mutex::default(),
        })
    }

    /// Returns the prompts of all turns.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let played = self.played.lock().expect("whole");
        played.iter().flat_map(|agents| agents.prompts()).collect()
    }

    fn script(&self, task: &str, spec: &SessionSpec) -> SessionScript {
        let script = SessionScript::new(task).costs(CostUsd::from_cents(10));
        let number = self.played.lock().expect("whole").len();
        match spec.model.as_deref() {
            Some("broken") => script
                .waits(self.pace)
                .says(format!("For {number} reasons I cannot."))
                .ends(),
            Some("idle") => script.hangs(),
            Some("mute") => script.waits(self.pace).says("Same.").ends(),
            Some(model @ ("untidy" | "lost")) => {
                let (turns, name) = (self.turns.clone(), task.to_owned());
                let is_lost = model == "lost";
                script
                    .waits(self.pace)
                    .performs(move |folder| find_a_way(folder, &name, &turns, is_lost))
                    .says("Same.")
                    .ends()
            }
            model => {
                let times = match model {
                    Some("slow") => 100,
                    Some("thorough") => 10,
                    _ => 1,
                };
                let is_thorough = model == Some("thorough");
                let (turns, name) = (self.turns.clone(), task.to_owned());
                script
                    .waits(self.pace * times)
                    .performs(move |folder| {
                        write(folder, &name, &turns);
                        if is_thorough {
                            let extra = folder.join(format!("{name}.extra.txt"));
                            fs::write(extra, "more\n").expect("a file");
                        }
                    })
                    .says(format!("I have written {task}.txt."))
                    .ends()
            }
        }
    }
}

fn write(folder: &Path, task: &str, turns: &Path) {
    fs::write(folder.join(format!("{task}.txt")), "done\n").expect("a file");
    let member = folder.file_name().expect("a name").to_string_lossy();
    let file = OpenOptions::new().append(true).create(true).open(turns);
    let line = format!("{member} {task}\n");
    file.expect("a file")
        .write_all(line.as_bytes())
        .expect("writable");
}

fn find_a_way(folder: &Path, task: &str, turns: &Path, is_lost: bool) {
    let member = folder.file_name().expect("a name").to_string_lossy();
    if is_lost && !member.contains(".way-2") {
        if member.contains(".way-1") {
            fs::write(folder.join(format!("not-{task}.txt")), "wrong\n").expect("a file");
        }
        return;
    }
    write(folder, task, turns);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.expect("later").as_nanos();
    let text = format!("{member} {task} {now}\n");
    fs::write(folder.join(format!("{task}.txt")), text).expect("a file");
    // It outlives this process.
    let left = Command::new("sleep")
        .arg("1000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    drop(left.expect("it starts"));
}

#[async_trait]
impl AgentClientFactory for Agents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        ScriptedBackend::new([]).probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let name = spec.instruction.to_string();
        let task = name.strip_prefix("task-").expect("a task");
        let agents = Arc::new(ScriptedBackend::new([self.script(task, &spec)]).unverified());
        self.played.lock().expect("whole").push(agents.clone());
        agents.create(spec)
    }
}

pub(crate) fn executor_factory(
    agents: &Arc<Agents>,
) -> impl Fn(&Path) -> Executors + Send + Sync + 'static {
    let agents = agents.clone();
    move |folder| {
        let executor = AgentExecutor::new("agent", agents.clone(), folder)
            .commands(commands())
            .sessions(|builder| builder.bash_security(|_: &str| Verdict::Allow));
        Executors::default().executor(Arc::new(executor))
    }
}
