//! Fixtures that the tests of the command share.

pub(crate) mod autonoe;
pub(crate) mod project;
pub(crate) mod script;
