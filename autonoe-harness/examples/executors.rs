//! Runs tasks from JSON on two executors, and verifies them.
//!
//! Scripted agents stand in for the backends; replace them with `CodexBackend`, `AcpBackend` or
//! `ClaudeBackend`. Run it with `cargo run -p autonoe-harness --example executors`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;

use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::{AgentExecutor, Execution, Executors, Task};
use autonoe_process::ProcessRunner;
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};

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
        .performs(|folder| {
            fs::write(folder.join("greeting.txt"), "Hello, world.\n").expect("a file");
        })
        .says("I wrote it. error: there is none.")
        .ends();
    let smiles = SessionScript::new("smiles")
        .says("It is friendly now, I promise.")
        .ends();

    // Commands of criteria see this environment. Use `Commands::confined` to run them in a sandbox.
    let commands =
        ProcessRunner::unconfined(project.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let codex = AgentExecutor::new("codex", ScriptedBackend::new([writes]), project.path())
        .model("gpt-5.5")
        .commands(commands);
    let gemini = AgentExecutor::new("gemini", ScriptedBackend::new([smiles]), project.path());
    let executors = Executors::default().executor(codex).executor(gemini);

    let tasks: Vec<Task> = serde_json::from_str(TASKS)?;
    let mut lines = Vec::new();
    for task in &tasks {
        match executors.run(task, &Execution::default()).await {
            Ok(result) => {
                let verified = executors
                    .verify_success(task, &result, &VerificationBudget::default())
                    .await?;
                lines.push(format!(
                    "{} by {} {}; {verified}",
                    task.id, result.cli, result.end
                ));
            }
            Err(error) => lines.push(format!("{} did not start: {error}", task.id)),
        }
    }

    for line in &lines {
        println!("{line}");
    }
    assert!(lines[0].contains("completed; passed"), "{lines:?}");
    // The agent claims success, but there is no judge to verify it.
    assert!(lines[1].contains("completed; not verified"), "{lines:?}");
    assert!(
        lines[2].contains("known executors: codex, gemini"),
        "{lines:?}"
    );
    Ok(())
}
