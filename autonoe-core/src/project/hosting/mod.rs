//! Single sessions in a project, for an engine elsewhere.

mod host;
mod known;
mod performing;
mod recording;

pub use host::ProjectSessionHost;
