//! Kinds of databases: application ID, schema version and tables.

/// A kind of database.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The application ID in the file header.
    pub(crate) application_id: i32,
    /// The name of the kind, for messages.
    pub(crate) name: &'static str,
    /// The only schema version that this program reads and writes.
    pub(crate) version: i64,
    /// The SQL that creates the tables.
    pub(crate) schema: &'static str,
}

/// State of a member.
pub(crate) const STATE: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnS"),
    name: "the state of a member",
    version: 4,
    schema: include_str!("schemas/state.sql"),
};

/// State of a project's coordinator: all of its fleets.
pub(crate) const META: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnM"),
    name: "the state of a coordinator",
    version: 1,
    schema: include_str!("schemas/meta.sql"),
};

/// Shared context of members.
pub(crate) const SHARED: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnC"),
    name: "the shared context of members",
    version: 4,
    schema: include_str!("schemas/shared.sql"),
};
