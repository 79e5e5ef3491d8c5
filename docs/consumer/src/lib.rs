//! Compiles and runs the code of guides as doctests of a crate outside the workspace.
//!
//! A guide belongs here if its code needs only the dependencies of this crate. The other guides are
//! in `docs/src/lib.rs`. `cargo xtask test` runs both, this one with the pinned Claude Code on its
//! `PATH`. It also follows the tutorials, each in a crate of its own.

#[doc = include_str!("../../guides/backends.md")]
mod backends {}

#[doc = include_str!("../../guides/bash-security.md")]
mod bash_security {}

#[doc = include_str!("../../guides/cassettes-and-chaos.md")]
mod cassettes_and_chaos {}

#[doc = include_str!("../../guides/claude-code.md")]
mod claude_code {}

#[doc = include_str!("../../guides/configuration.md")]
mod configuration {}

#[doc = include_str!("../../guides/embedding.md")]
mod embedding {}

#[doc = include_str!("../../guides/engines.md")]
mod engines {}

#[doc = include_str!("../../guides/flows.md")]
mod flows {}

#[doc = include_str!("../../guides/hooks.md")]
mod hooks {}

#[doc = include_str!("../../guides/instructions.md")]
mod instructions {}

#[doc = include_str!("../../guides/model-servers.md")]
mod model_servers {}

#[doc = include_str!("../../guides/observers.md")]
mod observers {}

#[doc = include_str!("../../guides/permission-rules.md")]
mod permission_rules {}

#[doc = include_str!("../../guides/project.md")]
mod project {}

#[doc = include_str!("../../guides/report.md")]
mod report {}

#[doc = include_str!("../../guides/repositories.md")]
mod repositories {}

#[doc = include_str!("../../guides/run-machine.md")]
mod run_machine {}

#[doc = include_str!("../../guides/specs.md")]
mod specs {}

#[doc = include_str!("../../guides/testing.md")]
mod testing {}

#[doc = include_str!("../../guides/time-and-ids.md")]
mod time_and_ids {}

#[doc = include_str!("../../guides/tools.md")]
mod tools {}

#[doc = include_str!("../../guides/writing-a-backend.md")]
mod writing_a_backend {}
