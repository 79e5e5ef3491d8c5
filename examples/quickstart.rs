//! Runs a complete project from its specification to the end; only the agent is simulated.
//!
//! A scripted agent plans three deliverables and works on them session after session. Its tool
//! calls go through the real gate and the real tools, and it writes real files into a temporary
//! project. It needs no key, no network and no waiting:
//!
//! ```console
//! $ cargo run --example quickstart
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::{Denial, Layer, Verdict};
use autonoe_core::gate::{GateDecision, PermissionRule};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::{
    CostUsd, DeliverableRepository, DeliverableStatus, HookDecision, PreToolUseHook, RunControl,
    RunEvent, RunEventKind, SessionRunner, StreamEvent, ToolCall, ToolKind, hook_fn,
};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

const SPEC: &str = "\
# A small shop

1. User Auth: a user can log in with a password.
2. Payment: a user can pay by card, through the provider's test service.
3. Dashboard: a user sees the latest orders.
";

/// Simulated thinking time of the agent.
const MOMENT: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    fs::write(project.path().join("SPEC.md"), SPEC)?;
    let ledger = Arc::new(MemoryRepository::new());

    let runner = SessionRunner::builder(project.path())
        .agents(agents())
        .repository(ledger.clone())
        .instructions(instructions())
        .bash_security(bash_policy)
        .hook(no_push())
        .observer(show)
        .pause_between_sessions(Duration::from_millis(200))
        .build()?;
    let report = runner.run(&RunControl::new()).await;

    println!("{report}");
    println!("\nWhy it stopped: {}", report.exit.code());
    if let Some(saved) = ledger.load().await? {
        println!("\nThe ledger, as status.json holds it:");
        println!("{}", serde_json::to_string_pretty(&saved.state.ledger)?);
    }
    println!("\nThe project:");
    for file in fs::read_dir(project.path())? {
        println!("  {}", file?.file_name().display());
    }
    Ok(())
}

/// Returns the scripted agent: one script per session.
fn agents() -> ScriptedBackend {
    ScriptedBackend::new([
        SessionScript::new("plans")
            .uses_tool("Read", json!({"file_path": "SPEC.md"}))
            .waits(MOMENT)
            .says("Three deliverables.")
            .uses_tool(
                "mcp__autonoe__create",
                json!({"deliverables": [
                    {"id": "DL-001", "description": "User Auth",
                     "acceptanceCriteria": ["a user can log in with a password"]},
                    {"id": "DL-002", "description": "Payment",
                     "acceptanceCriteria": ["a test payment goes through"]},
                    {"id": "DL-003", "description": "Dashboard",
                     "acceptanceCriteria": ["the latest orders are shown"]},
                ]}),
            )
            .costs(CostUsd::from_cents(12))
            .ends(),
        implements("auth.rs", "pub fn log_in() {}\n")
            .is_denied_by("no-push", "Bash", json!({"command": "git push"}))
            .uses_tool("mcp__autonoe__set_status", status("DL-001", "passed"))
            .costs(CostUsd::from_cents(31))
            .ends(),
        SessionScript::new("lacks a key")
            .is_denied_by(
                "bash-security",
                "Bash",
                json!({"command": "curl https://pay.example.com"}),
            )
            .says("Payment needs a key for the provider's test service.")
            .uses_tool("mcp__autonoe__set_status", status("DL-002", "blocked"))
            .costs(CostUsd::from_cents(8))
            .ends(),
        implements("dashboard.rs", "pub fn show_orders() {}\n")
            .uses_tool("mcp__autonoe__set_status", status("DL-003", "passed"))
            .costs(CostUsd::from_cents(27))
            .ends(),
    ])
}

/// Writes a file if the gate allows it, and runs the tests.
fn implements(file: &'static str, content: &'static str) -> SessionScript {
    SessionScript::new(format!("implements {file}"))
        .uses_tool(
            "mcp__autonoe__list",
            json!({"filter": {"status": "pending"}}),
        )
        .waits(MOMENT)
        .writes(file, content)
        .uses_tool("Bash", json!({"command": "cargo test"}))
}

fn status(id: &str, status: &str) -> serde_json::Value {
    json!({"deliverableId": id, "status": status})
}

fn instructions() -> FixedInstructions {
    FixedInstructions::new([
        (
            InstructionName::Initializer,
            "Turn SPEC.md into deliverables.",
        ),
        (
            InstructionName::Coding,
            "Implement one pending deliverable, then set its status.",
        ),
    ])
}

/// Allows these commands only. This is not a sandbox: an allowed program can do anything.
fn bash_policy(command: &str) -> Verdict {
    match command {
        "cargo test" | "git push" => Verdict::Allow,
        _ => Verdict::Deny(
            Denial::new(
                "shop-commands",
                Layer::User,
                format!("{command:?} is not on the list"),
            )
            .instead("use cargo test"),
        ),
    }
}

/// Blocks pushes, which the Bash policy would allow.
fn no_push() -> impl PreToolUseHook {
    let push: PermissionRule = "Bash(git push *)".parse().expect("a valid rule");
    hook_fn("no-push", move |call, paths| {
        if push.touches(call, paths) {
            HookDecision::block("a person pushes; commit and stop")
        } else {
            HookDecision::Pass
        }
    })
}

/// Prints events as they happen.
fn show(event: &RunEvent<'_>) {
    match &event.kind {
        RunEventKind::SessionStarted {
            number,
            instruction,
            ..
        } => {
            println!("Session {number} started: {instruction}");
        }
        RunEventKind::Agent {
            stream: StreamEvent::Text { text, .. },
        } => println!("  \"{text}\""),
        RunEventKind::ToolDecided { call, decision } => match decision {
            GateDecision::Allow { .. } => println!("  {}", short(call)),
            GateDecision::Deny { by, reason, .. } => {
                println!("  {}\n    denied by {by}: {reason}", short(call));
            }
        },
        RunEventKind::StatusChanged { change } => {
            let label = match change.status {
                DeliverableStatus::Passed => "PASS",
                DeliverableStatus::Blocked => "BLOCKED",
                DeliverableStatus::Pending => "PENDING",
            };
            println!("  [{label}] {} ({})", change.description, change.id);
        }
        RunEventKind::SessionEnded { number, result } => {
            let cost = result.cost;
            let seconds = result.duration.as_secs_f64();
            println!("Session {number}: cost={cost}, duration={seconds:.1}s\n");
        }
        _ => {}
    }
}

/// Describes a call in a few words.
fn short(call: &ToolCall) -> String {
    match &call.kind {
        ToolKind::Shell { command } => format!("$ {command}"),
        ToolKind::Read { paths } | ToolKind::Write { paths } => {
            let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
            format!("{} {}", call.name, paths.join(", "))
        }
        _ => call.name.clone(),
    }
}
