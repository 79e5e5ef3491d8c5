//! Single sessions for callers that decide themselves which session comes next.

mod close;
mod flow_start;
mod messages;
mod open_sessions;
mod order;
mod pause;
mod performed_session;
mod recorded_flow;
mod sessions;
mod transcript;

pub use flow_start::FlowStart;
pub use open_sessions::OpenSessions;
pub use order::SessionOrder;
pub use pause::SessionWait;
pub use performed_session::{PerformedCall, PerformedSession};
pub use recorded_flow::RecordedFlow;
pub use sessions::{FlowStartError, Sessions};
