//! Outcome of a session, decided from the evidence at its end.
//!
//! [`outcome`] is one pure function from the [`Evidence`] to the [`Outcome`]. Texts are parsed in
//! one place only, [`reset_time`], and only if they are part of a result of the program.

mod decide;
mod evidence;
mod quota_text;
mod session_outcome;

pub use autonoe_process::Exit;
pub use decide::outcome;
pub use evidence::{ApiFailure, Evidence, HostAction, RejectedQuota, RetriedCall, TurnResult};
pub use quota_text::{is_quota_text, reset_time};
pub(crate) use session_outcome::{LOG_IN, exit_text};
pub use session_outcome::{Outcome, stderr_excerpt};
