//! What an agent may do in one session.

use crate::port::Grants;

/// What an agent may do in one session. Guards and hooks judge every call whatever is chosen.
///
/// ```
/// use autonoe_core::{Grants, SessionAccess};
///
/// // Only what is allowed by name, and edits inside the project.
/// let editing = Grants::none()
///     .with_tool("Grep")
///     .with_rule("Edit(./**)".parse()?)
///     .with_rule("Write(./**)".parse()?);
/// let worker = SessionAccess::Only(editing);
///
/// // It reads everything that guards let it read, and changes nothing.
/// let judge = SessionAccess::reading();
/// # drop((worker, judge));
/// # Ok::<(), autonoe_core::InvalidRule>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionAccess {
    /// What the builder grants: the baseline of its mode and its rules.
    #[default]
    Usual,
    /// This, and nothing of what the builder grants. Our own tools are granted, too.
    Only(Grants),
    /// Of this, what changes nothing: reads, fetches, and the tools of the order. Everything else
    /// is blocked before any hook is asked, also what is granted by name. MCP servers of others are
    /// left out, and so are the run's own tools that change something.
    ///
    /// A backend that does not ask about every call cannot be held to it, so the session fails.
    ReadOnly(Grants),
}

impl SessionAccess {
    /// Lets an agent read all that guards let it read, and change nothing.
    pub fn reading() -> Self {
        const READS: [&str; 5] = [
            "Read(./**)",
            "Glob(./**)",
            "Grep(./**)",
            "Read(/**)",
            "TodoWrite",
        ];
        Self::ReadOnly(READS.into_iter().fold(Grants::none(), Grants::with_tool))
    }
}
