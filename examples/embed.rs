//! Embeds a run in your own program. The README shows this program.
//!
//! Run it with `cargo run --example embed`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::{RunControl, SessionRunner};
use autonoe_scripted::{ScriptedBackend, SessionScript};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plans = SessionScript::new("plans").plans([("DL-001", "Login", "a user can log in")]);
    let builds = SessionScript::new("builds").passes("DL-001");
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(ScriptedBackend::new([plans.ends(), builds.ends()]))
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new([
            (InstructionName::Initializer, "Plan what SPEC.md asks for."),
            (InstructionName::Coding, "Build one deliverable."),
        ]))
        .pause_between_sessions(Duration::ZERO)
        .build()?;
    println!("{}", runner.run(&RunControl::new()).await.exit);
    Ok(())
}
