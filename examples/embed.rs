//! Embeds a run in a program of one's own. This is the program of the README.
//!
//! Run it with `cargo run --example embed`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use autonoe_core::{
    FixedInstructions, InstructionName, MemoryRepository, RunControl, SessionRunner,
};
use autonoe_scripted::{ScriptedAgents, SessionScript};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
    ]});
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    let plans = SessionScript::new("plans").uses_tool("mcp__autonoe__create", plan);
    let builds = SessionScript::new("builds").uses_tool("mcp__autonoe__set_status", passed);
    let texts = [
        (InstructionName::Initializer, "Plan what SPEC.md asks for."),
        (InstructionName::Coding, "Build one deliverable."),
    ];
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(ScriptedAgents::new([plans.ends(), builds.ends()]))
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(texts))
        .pause_between_sessions(Duration::ZERO)
        .build()?;
    println!("{}", runner.run(&RunControl::new()).await.exit);
    Ok(())
}
