//! Where runs are carried out: the seam between who wants a run and what drives it.

mod error;
mod job;
mod local;
mod outcome;
mod port;
mod project_name;
mod run_spec;
mod session_host;
mod sessions_run;
mod view;

pub use error::EngineError;
pub use job::{JobRunner, RunDesk, RunProgress};
pub use local::LocalEngine;
pub use outcome::{RunEnding, RunOutcome};
pub use port::Engine;
pub use project_name::{ProjectName, ProjectNameError};
pub use run_spec::{Placement, RunInstruction, RunSpec};
pub use session_host::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
pub use sessions_run::{SESSIONS_JOB, SessionsRun};
pub use view::{RunPhase, RunView, RunWait};
