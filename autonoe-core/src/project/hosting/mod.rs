//! Single sessions in a project, for an engine elsewhere.

mod host;
mod performing;
mod recording;

pub use host::ProjectSessionHost;
