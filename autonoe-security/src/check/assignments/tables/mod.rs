//! Variables that the programs of the policy read, by program.
//!
//! They were collected from manual pages, documentation and sources. A prefix such as `RUFF_` also
//! denies variables that later versions of the program add.

mod build;
mod go;
mod java;
mod node;
mod php;
mod python;
mod ruby;
mod rust;
mod system;
mod tools;

use super::accepted_values::AcceptedValues;
use crate::Rule;

pub(super) use self::build::COMPILER;
pub(super) use self::node::NODE_OPTIONS;

/// Variables that one program or library reads, and the effects of their values.
pub(super) struct Group {
    /// The rule that denies them: R15 for the shell and libraries that every program loads, R91 for
    /// the variables of one program.
    pub(super) rule: Rule,
    /// The effect of a value, as the end of "may not be set:".
    pub(super) reason: &'static str,
    /// Whether assignments without an export count as well.
    pub(super) reach: Reach,
    /// Names, separated by blanks.
    pub(super) names: &'static str,
    /// Prefixes of names, separated by blanks.
    pub(super) prefixes: &'static str,
    /// Names with such a prefix that are harmless. Any value is accepted.
    pub(super) free: &'static str,
    /// Names with their accepted values.
    pub(super) accepts: &'static [(&'static str, AcceptedValues)],
}

impl Group {
    /// An empty group, for struct update syntax.
    pub(super) const NONE: Self = Self {
        rule: Rule::R91,
        reason: "",
        reach: Reach::Anywhere,
        names: "",
        prefixes: "",
        free: "",
        accepts: &[],
    };
}

/// The assignments that count. Names with accepted values count anywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// All assignments, because the variable may already be exported.
    Anywhere,
    /// Like [`Self::Anywhere`] for names; for prefixes only in the environment of a command,
    /// because scripts have their own variables with such names.
    NamesAnywhere,
    /// In the environment of a command only.
    Exported,
}

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
        java::GROUPS,
        tools::GROUPS,
    ]
    .into_iter()
    .flatten()
}
