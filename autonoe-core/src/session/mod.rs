//! Single sessions for callers that decide themselves which session comes next.

mod judge;
mod messages;
mod open_sessions;
mod order;
mod pause;
mod recorded_flow;
pub(crate) mod sessions;
mod transcript;

pub use judge::{Judge, JudgeQuestion, Judged, SessionJudge};
pub use open_sessions::OpenSessions;
pub use order::SessionOrder;
pub use pause::SessionWait;
pub use recorded_flow::RecordedFlow;
pub use sessions::{FlowStart, FlowStartError, Sessions};
pub use transcript::{PerformedCall, PerformedSession};
