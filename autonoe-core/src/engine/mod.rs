//! Engines that execute runs, here or on other hosts.

mod engine_port;
mod error;
mod job;
mod local;
mod outcome;
mod project_name;
mod run_spec;
mod session_host;
mod sessions_run;
mod view;

pub use engine_port::Engine;
pub use error::EngineError;
pub use job::{JobContext, JobRunner, RunProgress};
pub use local::LocalEngine;
pub use outcome::{RunEnding, RunOutcome};
pub use project_name::{ProjectName, ProjectNameError};
pub use run_spec::{Placement, RunInstruction, RunSpec};
pub use session_host::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
pub use sessions_run::{SESSIONS_JOB, SessionsRun};
pub use view::{RunPhase, RunView, RunWait};
