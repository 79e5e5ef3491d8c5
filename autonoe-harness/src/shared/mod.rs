//! Shared context of members: values, files and events.

mod artifact;
mod context;

pub use artifact::{Artifact, ArtifactName, InvalidArtifactName, SharedError};
pub use context::{Cursor, MemberEvent, NewMemberEvent, Scope, SharedContext};
