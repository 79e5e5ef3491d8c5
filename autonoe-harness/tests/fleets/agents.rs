//! Agents that write files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, SessionSpec, Verdict,
};
use autonoe_harness::{AgentExecutor, Executors};
use autonoe_testkit::{ScriptedAgents, SessionScript};

/// Agents that do their tasks: the one of the task `x` writes `x.txt`. The model says how:
///
/// - `slow` takes a hundred times as long,
/// - `broken` does nothing and says so in ever other words,
/// - `mute` says and does the same again and again,
/// - `idle` does nothing and never ends.
pub(crate) struct Agents {
    turns: PathBuf,
    pace: Duration,
    played: Mutex<Vec<Arc<ScriptedAgents>>>,
}

impl Agents {
    /// Makes agents that note in the file `turns` what they have done.
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
            model => {
                let times = if model == Some("slow") { 100 } else { 1 };
                let (turns, name) = (self.turns.clone(), task.to_owned());
                script
                    .waits(self.pace * times)
                    .does(move |folder| write(folder, &name, &turns))
                    .says(format!("I have written {task}.txt."))
                    .ends()
            }
        }
    }
}

fn write(folder: &Path, task: &str, turns: &Path) {
    fs::write(folder.join(format!("{task}.txt")), "done\n").expect("a file");
    let who = folder.file_name().expect("a name").to_string_lossy();
    let file = OpenOptions::new().append(true).create(true).open(turns);
    let line = format!("{who} {task}\n");
    file.expect("a file")
        .write_all(line.as_bytes())
        .expect("writable");
}

#[async_trait]
impl AgentClientFactory for Agents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        ScriptedAgents::new([]).probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let name = spec.instruction.to_string();
        let task = name.strip_prefix("task-").expect("a task");
        let agents = Arc::new(ScriptedAgents::new([self.script(task, &spec)]).unverified());
        self.played.lock().expect("whole").push(agents.clone());
        agents.create(spec)
    }
}

pub(crate) fn workshop(
    agents: &Arc<Agents>,
) -> impl Fn(&Path) -> Executors + Send + Sync + 'static {
    let agents = agents.clone();
    move |folder| {
        let executor = AgentExecutor::new("agent", agents.clone(), folder)
            .sessions(|builder| builder.bash_security(Arc::new(|_: &str| Verdict::Allow)));
        Executors::default().with(Arc::new(executor))
    }
}
