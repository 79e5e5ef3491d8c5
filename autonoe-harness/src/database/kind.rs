//! What is in a file: whose it is, and how its tables came to be.

/// A kind of database.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The number in the head of the file by which it is known.
    pub(crate) application_id: i32,
    /// What it is, for people.
    pub(crate) name: &'static str,
    /// What makes each version of the one before; never changed once it was shipped.
    pub(crate) migrations: &'static [&'static str],
}

impl Kind {
    /// Returns the newest version.
    pub(crate) fn version(&self) -> i64 {
        self.migrations.len().try_into().unwrap_or(i64::MAX)
    }
}

/// The state of a harness.
pub(crate) const STATE: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnS"),
    name: "the state of a harness",
    migrations: &[
        include_str!("schemas/state_1.sql"),
        include_str!("schemas/state_2.sql"),
        include_str!("schemas/state_3.sql"),
    ],
};

/// The state of a coordinator.
pub(crate) const META: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnM"),
    name: "the state of a coordinator",
    migrations: &[include_str!("schemas/meta_1.sql")],
};

/// What harnesses share.
pub(crate) const SHARED: Kind = Kind {
    application_id: i32::from_be_bytes(*b"AtnC"),
    name: "the shared context of harnesses",
    migrations: &[
        include_str!("schemas/shared_1.sql"),
        include_str!("schemas/shared_2.sql"),
    ],
};
