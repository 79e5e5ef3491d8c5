//! Clocks, timestamps, durations, and the ids of runs and sessions.

mod clock;
pub(crate) mod duration;
mod id_source;
mod ids;
pub(crate) mod timestamp;

pub use autonoe_security::Mode;
pub use clock::{Clock, SystemClock};
pub use duration::format_duration;
pub use id_source::{IdSource, RandomIds, RandomnessError, SeededIds};
pub use ids::{AgentSessionId, Epoch, InvalidRunId, RunId, SessionKey};
pub use timestamp::format_time;
