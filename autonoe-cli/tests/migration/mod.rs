//! Tests of migrating projects from the first Autonoe, and of the migration page.

mod page;
mod project;
