//! Single sessions, for callers with a loop of their own.

mod access;
mod close;
mod messages;
mod open;
mod order;
mod pausing;
mod performed;
mod recorded;
mod sessions;
mod start;
mod transcript;

pub use access::SessionAccess;
pub use open::OpenSessions;
pub use order::SessionOrder;
pub use pausing::SessionWait;
pub use performed::{PerformedCall, PerformedSession};
pub use recorded::RecordedFlow;
pub use sessions::{NotOpened, Sessions};
pub use start::FlowStart;
