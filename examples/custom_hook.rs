//! A hook with state: each session may write a limited number of files.
//!
//! Run it with `cargo run --example custom_hook`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::event::InstructionName;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::SessionKey;
use autonoe_core::{
    HookDecision, PreToolUseHook, RunControl, SessionRunner, ToolCall, ToolKind, async_trait,
};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

/// Keeps the changes of a session small enough to review.
struct SmallSteps {
    most: usize,
    // A hook is called from several tasks at once.
    written: Mutex<BTreeMap<SessionKey, BTreeSet<PathBuf>>>,
}

#[async_trait]
impl PreToolUseHook for SmallSteps {
    fn name(&self) -> &str {
        "small-steps"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        let ToolKind::Write { paths } = &call.kind else {
            return HookDecision::Pass;
        };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let files = written.entry(call.session.clone()).or_default();
        let new = paths.iter().filter(|path| !files.contains(*path)).count();
        if files.len() + new > self.most {
            // The agent reads this.
            return HookDecision::block("finish these files; the rest is for the next session");
        }
        files.extend(paths.iter().cloned());
        HookDecision::Pass
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let write = |file: &str| json!({"file_path": file, "content": ""});
    let agents = Arc::new(ScriptedBackend::new([SessionScript::new("writes")
        .uses_tool("Write", write("a.rs"))
        .uses_tool("Write", write("b.rs"))
        .uses_tool("Write", write("a.rs"))
        .is_denied_by("small-steps", "Write", write("c.rs"))
        .ends()]));
    let texts = [(InstructionName::Initializer, "Plan what SPEC.md asks for.")];
    let hook = SmallSteps {
        most: 2,
        written: Mutex::default(),
    };
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(texts))
        .hook(hook)
        .max_iterations(1)
        .build()?;
    runner.run(&RunControl::new()).await;

    for (call, decision) in agents.decisions() {
        println!("{}: {decision:?}", call.input["file_path"]);
    }
    agents.verify();
    Ok(())
}
