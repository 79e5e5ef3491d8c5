//! Hooks from a JSON configuration: a built-in one and a custom one.
//!
//! Run it with `cargo run --example hooks_from_json`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::schemars::JsonSchema;
use autonoe_core::spec::{HookSpec, SpecContext, SpecError, SpecPort, registered_specs};
use autonoe_core::{HookDecision, Mode, PreToolUseHook, ToolCall, ToolKind, hook_fn, typetag};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Blocks long shell commands: a long one should be a script.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "autonoe_core::schemars")]
struct ShortCommands {
    /// The longest command, in bytes.
    longest: usize,
}

// Tags have the form `crate-thing`, so that those of two crates do not collide.
#[typetag::serde(name = "examples-short-commands")]
impl HookSpec for ShortCommands {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError> {
        let longest = self.longest;
        if longest == 0 {
            return Err(SpecError::new(
                "examples-short-commands",
                "`longest` must not be 0",
            ));
        }
        Ok(hook_fn("short-commands", move |call, _| match &call.kind {
            ToolKind::Shell { command } if command.len() > longest => {
                HookDecision::block("this command is too long; write a script and run that")
            }
            _ => HookDecision::Pass,
        }))
    }
}

autonoe_core::register_spec!(Hook, ShortCommands, "examples-short-commands", {
    "longest": 200
});

const CONFIGURATION: &str = r#"[
    {"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "this project works offline"},
    {"type": "examples-short-commands", "longest": 40}
]"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project_paths = ProjectPaths::new("/srv/project");
    let context = SpecContext::new(project_paths.clone());
    let specs: Vec<Box<dyn HookSpec>> = serde_json::from_str(CONFIGURATION)?;

    // A run accepts the same hooks with `SessionRunner::builder(..).hook(..)`.
    let grants = Grants::baseline(Mode::Run).with_rule("WebFetch(*)".parse()?);
    let mut gate = Gate::new(project_paths, grants);
    for spec in &specs {
        gate = gate.with_hook(spec.build(&context)?);
    }
    for call in [
        ToolCall::new("WebFetch", json!({"url": "https://example.com"})),
        ToolCall::new("Bash", json!({"command": "cargo test"})),
        ToolCall::new("Bash", json!({"command": "cargo test; ".repeat(10)})),
    ] {
        let decision = gate.decide(&call).await;
        println!("{} {}\n  {decision:?}", call.name, call.input);
    }

    println!("\nThis program knows these hooks:");
    for spec in registered_specs(SpecPort::Hook) {
        println!("  {}", (spec.example)());
    }
    Ok(())
}
