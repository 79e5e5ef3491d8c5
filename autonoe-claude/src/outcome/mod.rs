//! How a session ended, decided from all that is known at its end.
//!
//! [`outcome`] is one pure function from the [`Evidence`] to the [`Outcome`].
//! What a text says is looked at in one place only, [`reset_time`], and only
//! when the program has put it into a result.

mod decide;
mod ending;
mod evidence;
mod exit;
mod quota_text;

pub use decide::outcome;
pub(crate) use ending::LOG_IN;
pub use ending::Outcome;
pub use evidence::{ApiFailure, Evidence, HostAction, RejectedQuota, RetriedCall, TurnResult};
pub(crate) use exit::harmless;
pub use exit::{Exit, last_words};
pub use quota_text::{is_quota_text, reset_time};
