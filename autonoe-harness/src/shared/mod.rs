//! What harnesses share: values, files and events.

mod artifact;
mod artifact_name;
mod context;
mod error;
mod files;
mod scope;

pub use artifact::Artifact;
pub use artifact_name::{ArtifactName, InvalidArtifactName};
pub use context::SharedContext;
pub use error::SharedError;
pub use scope::Scope;
