//! Corpora and mutations shared by several tests.

pub(crate) mod corpus;
pub(crate) mod mutate;
