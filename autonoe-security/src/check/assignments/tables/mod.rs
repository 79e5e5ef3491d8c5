//! Variables that the programs of the policy read, by program.
//!
//! They were collected from manual pages, documentation and sources. A beginning such as `RUFF_`
//! denies what a later version of the program adds.

mod build;
mod go;
mod node;
mod php;
mod python;
mod ruby;
mod rust;
mod system;

use super::group::Group;

pub(super) use self::build::COMPILER;
pub(super) use self::node::NODE_OPTIONS;

/// Returns every group of variables.
pub(super) fn all() -> impl Iterator<Item = &'static Group> {
    [
        system::GROUPS,
        build::GROUPS,
        node::GROUPS,
        python::GROUPS,
        ruby::GROUPS,
        go::GROUPS,
        rust::GROUPS,
        php::GROUPS,
    ]
    .into_iter()
    .flatten()
}
