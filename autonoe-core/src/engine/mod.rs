//! Engines that execute runs, here or on other hosts.

mod engine_port;
mod job;
mod local;
mod run_spec;
mod session_host;
mod view;

pub use engine_port::{Engine, EngineError};
pub use job::{JobContext, JobRunner};
pub use local::LocalEngine;
pub use run_spec::{
    Placement, ProjectName, ProjectNameError, RunInstruction, RunSpec, SESSIONS_JOB, SessionsRun,
};
pub use session_host::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
pub use view::{RunEnding, RunOutcome, RunPhase, RunProgress, RunView, RunWait};
