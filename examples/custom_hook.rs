//! A hook with a state of its own: at most so many files per session.
//!
//! It is asked directly, as a unit test would, and then in a run. Run it with
//! `cargo run --example custom_hook`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::{
    FixedInstructions, HookDecision, InstructionName, MemoryRepository, PreToolUseHook,
    ProjectPaths, RunControl, SessionKey, SessionRunner, ToolCall, ToolKind, async_trait,
};
use autonoe_scripted::{ScriptedAgents, SessionScript};
use serde_json::json;

/// Keeps the changes of a session small enough to review.
struct SmallSteps {
    most: usize,
    // Hooks are shared and may be asked from several tasks at once.
    written: Mutex<BTreeMap<SessionKey, BTreeSet<PathBuf>>>,
}

impl SmallSteps {
    fn new(most: usize) -> Self {
        Self {
            most,
            written: Mutex::default(),
        }
    }
}

#[async_trait]
impl PreToolUseHook for SmallSteps {
    fn name(&self) -> &str {
        "small-steps"
    }

    fn matches(&self, call: &ToolCall) -> bool {
        matches!(call.kind, ToolKind::Write { .. })
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        let ToolKind::Write { paths } = &call.kind else {
            return HookDecision::Pass;
        };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let files = written.entry(call.session.clone()).or_default();
        let new = paths.iter().filter(|path| !files.contains(*path)).count();
        if files.len() + new > self.most {
            let most = self.most;
            return HookDecision::block(format!(
                "a session changes at most {most} files; finish these, the rest is for the next one"
            ));
        }
        files.extend(paths.iter().cloned());
        HookDecision::Pass
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let hook = SmallSteps::new(2);
    let project_paths = ProjectPaths::new(std::env::current_dir()?);
    for file in ["a.rs", "b.rs", "a.rs", "c.rs"] {
        let decision = hook.check(&write(file), &project_paths).await;
        println!("{file}: {decision:?}");
    }

    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
    ]});
    let agents = Arc::new(ScriptedAgents::new([
        SessionScript::new("plans")
            .uses_tool("mcp__autonoe__create", plan)
            .ends(),
        SessionScript::new("does too much at once")
            .uses_tool("Write", json!({"file_path": "a.rs", "content": ""}))
            .uses_tool("Write", json!({"file_path": "b.rs", "content": ""}))
            .is_denied_by(
                "small-steps",
                "Write",
                json!({"file_path": "c.rs", "content": ""}),
            )
            .ends(),
        SessionScript::new("does the rest")
            .uses_tool("Write", json!({"file_path": "c.rs", "content": ""}))
            .uses_tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "DL-001", "status": "passed"}),
            )
            .ends(),
    ]));
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new([
            (
                InstructionName::Initializer,
                "Turn SPEC.md into deliverables.",
            ),
            (InstructionName::Coding, "Implement one deliverable."),
        ]))
        .hook(SmallSteps::new(2))
        .pause_between_sessions(Duration::ZERO)
        .build()?;
    let report = runner.run(&RunControl::new()).await;

    println!("\n{report}");
    agents.verify();
    Ok(())
}

fn write(file: &str) -> ToolCall {
    ToolCall::new("Write", json!({"file_path": file, "content": ""}))
}
