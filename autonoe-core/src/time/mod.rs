//! Clocks, timestamps, durations, and the ids of runs and sessions.

mod clock;
mod duration;
mod ids;
pub(crate) mod timestamp;

pub use autonoe_security::Mode;
pub use clock::{Clock, SystemClock};
pub use duration::format_duration;
#[doc(hidden)]
pub use duration::{backoff, millis};
pub use ids::{
    AgentSessionId, Epoch, IdSource, InvalidRunId, RandomIds, RandomnessError, RunId, SeededIds,
    SessionKey,
};
pub use timestamp::format_time;
