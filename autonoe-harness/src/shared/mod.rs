//! Shared context of members: values, files and events.

mod artifact;
mod context;
mod event;

pub use artifact::{Artifact, ArtifactName, InvalidArtifactName, SharedError};
pub use context::{Scope, SharedContext};
pub use event::{Cursor, MemberEvent, NewMemberEvent};
