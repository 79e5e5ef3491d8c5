//! Common parts of backends that drive a program.
//!
//! - [`SandboxConfig`] configures the outer sandbox of the program, for runs that require one. All
//!   backends follow the same rules for it.
//! - [`SessionDirectory`] is the folder of a session and the marker of its processes.
//!   [`remove_abandoned_sessions`] ends the processes that killed hosts left running, and removes
//!   their folders.
//! - [`ProgramOptions`] are the options that all such backends have.
//! - [`ProgramClient`] is the client of a session around any [`Program`]. A task owns the program.
//!   [`run_turn`] drives each [`Turn`].
//! - [`decide_call`] requests the decision of the gate about a call, and [`AnswerTasks`] are the
//!   tasks that answer.
//!
//! A backend adds its own parts: the start of its program, its protocol, and the outcome of its
//! turns.

mod claims;
mod launch;
mod options;
mod probe;
mod session;
mod spec_values;

pub use claims::{OUTER_SANDBOX_REMEDY, program_claims};
pub use launch::{
    SandboxConfig, SandboxMounts, SandboxNetwork, SandboxSpec, SessionDirectory,
    add_session_environment, remove_abandoned_sessions,
};
pub use options::ProgramOptions;
pub use probe::{AnswerEnd, ShortAnswer, short_answer, version_finding};
pub use session::{
    AfterQuery, AnswerTasks, Command, CommandQueue, DeniedCall, FAILED_CHECK, PendingRequests,
    Program, ProgramClient, Query, Turn, TurnEnd, TurnStep, decide_call, line_writer, ready_within,
    run_turn, shutdown_program, wait_for_exit,
};
pub use spec_values::{check_limit, check_model};
