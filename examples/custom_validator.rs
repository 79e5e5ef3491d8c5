//! A validator of Bash commands beside the policy: denies long chains of commands.
//!
//! Run it with `cargo run --example custom_validator`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use autonoe_core::gate::policy::{
    BashSecurity, BashValidator, Denial, Layer, Policy, PolicyConfig, PolicyScope, ScopeMismatch,
    Verdict,
};
use autonoe_core::{SessionRunner, ToolCall};
use serde_json::json;

/// Denies a text with more commands than a person can review at a glance.
struct ShortChains {
    most: usize,
    parser: BashValidator,
}

impl BashSecurity for ShortChains {
    fn check(&self, text: &str) -> Verdict {
        let commands = self.parser.explain(text).commands;
        // The first command beyond the limit.
        let Some(extra) = commands.get(self.most) else {
            return Verdict::Allow;
        };
        let reason = format!("it has {} commands", commands.len());
        let denial = Denial::new("short-chains", Layer::User, reason).at(extra.span.clone());
        Verdict::Deny(denial.instead("write a script and run that"))
    }

    // A run refuses a policy for another mode or directory.
    fn check_scope(&self, scope: &PolicyScope) -> Result<(), ScopeMismatch> {
        self.parser.check_scope(scope)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = std::env::current_dir()?;
    let scope = project
        .to_str()
        .ok_or("the path of the project is not UTF-8")?;
    let policy = BashValidator::new(Policy::new(scope, PolicyConfig::default())?);
    let short_chains = ShortChains {
        most: 2,
        parser: policy.clone(),
    };
    let gate = SessionRunner::builder(&project)
        // The validator can only deny: the policy still checks the commands that it allows.
        .bash_security(policy.and(short_chains))
        .build_gate()?;
    for command in [
        "cargo test 2>&1 | tail -20",
        "cargo build && cargo test && cargo doc",
        "echo $(cargo pkgid; cargo locate-project)",
        "sudo cargo test",
    ] {
        let call = ToolCall::new("Bash", json!({ "command": command })).in_dir(&project);
        println!("{command}\n  {:?}", gate.decide(&call).await);
    }
    Ok(())
}
