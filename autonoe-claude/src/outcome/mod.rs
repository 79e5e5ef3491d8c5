//! Outcome of a session, decided from the evidence at its end.
//!
//! [`decide()`](decide::decide) is one pure function from the [`Evidence`] to the outcome. Texts are parsed in
//! one place only, [`reset_time`], and only if they are part of a result of the program.

mod decide;
mod evidence;
mod quota_text;

pub use autonoe_process::Exit;
pub(crate) use decide::LOG_IN;
pub use decide::{decide, stderr_excerpt};
pub use evidence::{ApiFailure, Evidence, HostAction, RejectedQuota, RetriedCall, TurnResult};
pub use quota_text::{is_quota_text, reset_time};
