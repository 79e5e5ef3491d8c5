//! Examples that need only `autonoe-core` and scripted agents: no key, no network.
//!
//! The main extension points have an example of at most 60 lines of code:
//!
//! | you bring | port | example |
//! | --- | --- | --- |
//! | a rule about tool calls | `PreToolUseHook` | `custom_hook` |
//! | a rule that a file can name | `HookSpec` | `hooks_from_json` |
//! | an observer | `RunObserver` | `custom_observer` |
//! | a store for the ledger | `DeliverableRepository` | `custom_repository` |
//! | an agent | `AgentClientFactory`, `AgentClient` | `own_backend` |
//! | a tool for agents | `TypedTool` | `custom_tool` |
//! | prompts | `InstructionSource` | `custom_instructions` |
//! | a Bash policy | `PolicyConfig` | `bash_policy` |
//! | a validator of commands | `BashSecurity` | `custom_validator` |
//! | time | `Clock` | `custom_clock` |
//! | work for an engine | `JobRunner` | `custom_job` |
//! | steps that an agent goes through | `FlowRun` | `flow`, in `autonoe-flow` |
//!
//! Whole programs:
//!
//! | example | shows |
//! | --- | --- |
//! | `quickstart` | a whole run, from `SPEC.md` to the report |
//! | `embed` | the smallest program that embeds a run |
//! | `real_folder` | a run that keeps its ledger and journal in a project directory |
//! | `resume_killed_run` | a run that is killed with `kill -9` and resumed |
//!
//! Start one with `cargo run --example NAME`. Examples with further dependencies are in the
//! crates that they show: `autonoe-testkit`, `autonoe-claude`, `autonoe-model`, `autonoe-flow`,
//! `autonoe-harness`, `autonoe-dashboard`, `autonoe-telemetry` and `autonoe-security`. Start those with
//! `cargo run -p CRATE --all-features --example NAME`.
