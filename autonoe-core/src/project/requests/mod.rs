//! Requests of operators to a run in another process, as files in `.autonoe/requests`.

mod folder;
mod forwarder;

pub use folder::{OperatorRequest, PendingRequest, RequestFolder};
pub use forwarder::RequestForwarder;
