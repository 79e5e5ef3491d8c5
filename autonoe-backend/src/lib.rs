//! Common parts of backends that drive a program.
//!
//! Use this crate to write a backend around a command-line agent. A backend adds its own parts: the
//! start of its program, its protocol, and the outcome of its turns. `autonoe-claude`,
//! `autonoe-codex` and `autonoe-acp` are built this way.
//!
//! ```
//! use autonoe_backend::program_claims;
//! use autonoe_core::agent::{HookCoverage, SessionField};
//!
//! let claims = program_claims("my-agent").with_hooks(HookCoverage::EveryTool);
//!
//! assert!(claims.require([SessionField::Model, SessionField::McpServers]).is_ok());
//! assert!(claims.require([SessionField::Resume]).is_err());
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`ProgramOptions`], [`ProgramFields`] | the options that all such backends have, and their fields in a configuration file |
//! | [`program_claims`] | the capabilities that they have in common |
//! | [`SandboxConfig`] | settings of the outer sandbox |
//! | [`ProgramFile`] | the identity of one build of a program, for results that are kept while it stays the same |
//! | [`SessionDirectory`] | the folder of a session, and the marker of its processes |
//! | [`ProgramClient`], [`Program`] | the client of a session, whose task owns the program; the running program |
//! | [`ProgramTurn`] | one turn of a program |
//! | [`decide_call`] | requests the decision of the gate about a call |
//! | [`AnswerTasks`], [`spawn_answer`] | runs the tasks that reply to the program's permission and tool requests |
//! | [`PendingRequests`], [`line_writer`] | requests to the program that have no answer yet; writes whole lines to the program |
//! | [`short_answer`], [`version_finding`] | for probes: runs the program once, and reports its version |
//! | [`check_model`], [`check_limit`] | checks of values in a configuration file |

mod launch;
mod options;
mod probe;
mod session;

pub use launch::{
    ProgramFile, SandboxConfig, SandboxMounts, SandboxNetwork, SessionDirectory,
    add_session_environment,
};
pub use options::{ProgramFields, ProgramOptions, check_limit, check_model};
pub use probe::{
    AnswerEnd, OUTER_SANDBOX_REMEDY, ShortAnswer, program_claims, short_answer, version_finding,
};
pub use session::{
    AnswerTasks, DeniedCall, FAILED_CHECK, PendingRequests, Program, ProgramClient, ProgramTurn,
    TurnEnd, TurnStep, decide_call, line_writer, ready_within, shutdown_program, spawn_answer,
    wait_for_exit,
};
