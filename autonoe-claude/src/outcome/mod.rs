//! Outcome of a session, decided from the evidence at its end.
//!
//! [`outcome`] is one pure function from the [`Evidence`] to the [`Outcome`].
//! What a text says is looked at in one place only, [`reset_time`], and only
//! when the program has put it into a result.

mod decide;
mod ending;
mod evidence;
mod quota_text;

pub use decide::outcome;
pub use ending::{Exit, Outcome, last_words};
pub(crate) use ending::{LOG_IN, harmless};
pub use evidence::{ApiFailure, Evidence, HostAction, RejectedQuota, RetriedCall, TurnResult};
pub use quota_text::{is_quota_text, reset_time};
