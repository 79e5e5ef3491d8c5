//! Examples that need only `autonoe-core` and scripted agents: no key, no network.
//!
//! | example | shows |
//! | --- | --- |
//! | `quickstart` | a whole run, from `SPEC.md` to the report |
//! | `embed` | the smallest program that embeds a run |
//! | `custom_hook` | a hook with state that blocks tool calls |
//! | `custom_tool` | a typed tool that reports its progress |
//! | `own_backend` | a backend for an agent of your own |
//! | `hooks_from_json` | hooks as plugins that a file names |
//! | `real_folder` | a run that keeps its ledger and journal in a project directory |
//! | `resume_killed_run` | a run that is killed with `kill -9` and resumed |
//!
//! Start one with `cargo run --example NAME`. Examples with further dependencies are in the
//! crates that they show: `autonoe-testkit`, `autonoe-claude`, `autonoe-model`, `autonoe-harness`,
//! `autonoe-dashboard` and `autonoe-security`. Start those with
//! `cargo run -p CRATE --all-features --example NAME`.
