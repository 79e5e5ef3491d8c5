//! A Bash policy: one language, one additional command, and examples that the policy must satisfy.
//!
//! Run it with `cargo run --example bash_policy`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use autonoe_core::gate::policy::{AllowCommands, Examples, PolicyConfig, Profile};
use autonoe_core::{Mode, SessionRunner, ToolCall};
use serde_json::json;

fn policy() -> PolicyConfig {
    PolicyConfig {
        profiles: Some([Profile::Rust].into()),
        // Adding a command allows everything that the command can do.
        allow_commands: AllowCommands::List(["just".to_owned()].into()),
        // `build` and `build_gate` fail if one of them gets another verdict.
        examples: Examples {
            allow: vec!["cargo test".to_owned()],
            deny: vec!["npm install".to_owned(), "cargo publish".to_owned()],
        },
        ..PolicyConfig::default()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = std::env::current_dir()?;
    for mode in [Mode::Run, Mode::Sync] {
        // The policy takes mode and directory from the run.
        let builder = SessionRunner::builder(&project).mode(mode);
        let gate = builder.bash_policy(policy()).build_gate()?;
        for command in ["cargo test", "just release", "npm test", "echo 1 > version"] {
            let call = ToolCall::new("Bash", json!({ "command": command }))
                .in_dir(&project)
                .in_mode(mode);
            println!("{mode}: {command}\n  {:?}", gate.decide(&call).await);
        }
    }
    Ok(())
}
