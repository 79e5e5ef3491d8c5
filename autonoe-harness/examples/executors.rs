//! Tasks for two executors, from JSON, and whether they are done.
//!
//! Scripted agents stand in for the backends; `CodexAgents`, `AcpAgents` or `ClaudeAgents` go in
//! their place. Run it with `cargo run -p autonoe-harness --example executors`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;

use autonoe_harness::{AgentExecutor, Execution, Executors, Task};
use autonoe_process::Commands;
use autonoe_testkit::{ScriptedAgents, SessionScript, TempProject};

const TASKS: &str = r#"[
  {
    "id": "T-001",
    "goal": "Write a greeting to greeting.txt.",
    "successCriteria": {"type": "all", "criteria": [
      {"type": "file", "path": "greeting.txt", "contains": "Hello", "modified": true},
      {"type": "command", "command": ["grep", "-q", "world", "greeting.txt"]}
    ]}
  },
  {
    "id": "T-002",
    "goal": "Make the greeting friendly.",
    "successCriteria": "Everybody feels welcome.",
    "cli": "gemini"
  },
  {
    "id": "T-003",
    "goal": "Translate the greeting.",
    "timeoutSeconds": 60,
    "cli": "claud"
  }
]"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = TempProject::new();
    let writes = SessionScript::new("writes")
        .does(|folder| {
            fs::write(folder.join("greeting.txt"), "Hello, world.\n").expect("a file");
        })
        .says("I wrote it. error: there is none.")
        .ends();
    let smiles = SessionScript::new("smiles")
        .says("It is friendly now, I promise.")
        .ends();

    // Commands of criteria see this environment, and run in a sandbox with `Commands::confined`.
    let commands = Commands::unconfined(project.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let codex = AgentExecutor::new("codex", ScriptedAgents::new([writes]), project.path())
        .model("gpt-5.5")
        .commands(commands);
    let gemini = AgentExecutor::new("gemini", ScriptedAgents::new([smiles]), project.path());
    let executors = Executors::default().with(codex).with(gemini);

    let tasks: Vec<Task> = serde_json::from_str(TASKS)?;
    let mut told = Vec::new();
    for task in &tasks {
        match executors.run(task, &Execution::default()).await {
            Ok(result) => {
                let verified = executors.verify_success(task, &result).await?;
                told.push(format!(
                    "{} by {} {}; {verified}",
                    task.id, result.cli, result.end
                ));
            }
            Err(error) => told.push(format!("{} was not begun: {error}", task.id)),
        }
    }

    for line in &told {
        println!("{line}");
    }
    assert!(told[0].contains("completed; passed"), "{told:?}");
    // It says so itself, and nobody is there to judge.
    assert!(told[1].contains("completed; not verified"), "{told:?}");
    assert!(told[2].contains("known are codex, gemini"), "{told:?}");
    Ok(())
}
