//! [`SessionAccess`], the permissions of an agent in one session.

use crate::gate::Grants;

/// The permissions of an agent in one session. Guards and hooks judge every call in any case.
///
/// ```
/// use autonoe_core::gate::Grants;
/// use autonoe_core::run::SessionAccess;
///
/// // Only what is allowed by name, and edits inside the project.
/// let editing = Grants::none()
///     .with_tool("Grep")
///     .with_rule("Edit(./**)".parse()?)
///     .with_rule("Write(./**)".parse()?);
/// let worker = SessionAccess::Only(editing);
///
/// // It reads everything that guards let it read, and changes nothing.
/// let judge = SessionAccess::read_only();
/// # drop((worker, judge));
/// # Ok::<(), autonoe_core::gate::InvalidRule>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionAccess {
    /// The grants of the builder: the baseline of its mode and its rules.
    #[default]
    Default,
    /// These grants instead of the builder's. Autonoe's own tools are granted, too.
    Only(Grants),
    /// The read-only part of these grants: reads, fetches, and the tools of the order. Everything
    /// else is blocked before any hook runs, even if it is granted by name. Third-party MCP servers
    /// and the run's own tools with side effects are left out.
    ///
    /// The session fails on a backend that can bypass the gate, because nothing would enforce it.
    ReadOnly(Grants),
}

impl SessionAccess {
    /// Lets an agent read everything that the guards allow, and change nothing.
    pub fn read_only() -> Self {
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
