//! An observer that counts the calls and the denials of each tool.
//!
//! Run it with `cargo run --example custom_observer`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::{RunControl, RunEvent, RunEventKind, RunObserver, SessionRunner};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

/// Calls and denials by tool.
#[derive(Default)]
struct ToolCounts(Mutex<BTreeMap<String, (u32, u32)>>);

impl RunObserver for ToolCounts {
    // The run waits for this call: send slow work to a channel.
    fn on_event(&self, event: &RunEvent<'_>) {
        let RunEventKind::ToolDecided { call, decision } = &event.kind else {
            return;
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (calls, denied) = counts.entry(call.name.clone()).or_default();
        *calls += 1;
        *denied += u32::from(!decision.is_allowed());
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agents = ScriptedBackend::new([SessionScript::new("looks around")
        .uses_tool("Read", json!({"file_path": "SPEC.md"}))
        .uses_tool("Read", json!({"file_path": "README.md"}))
        .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
        .ends()]);
    let texts = [(InstructionName::Initializer, "Plan what SPEC.md asks for.")];
    let counts = Arc::new(ToolCounts::default());
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents)
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(texts))
        .observer(counts.clone())
        // A closure is an observer as well.
        .observer(|event: &RunEvent<'_>| {
            if let RunEventKind::SessionEnded { number, .. } = &event.kind {
                println!("session {number} ended");
            }
        })
        .max_iterations(1)
        .build()?;
    runner.run(&RunControl::new()).await;

    for (tool, (calls, denied)) in counts
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        println!("{tool}: {calls} calls, {denied} denied");
    }
    Ok(())
}
