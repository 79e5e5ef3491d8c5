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

use super::accepted_values::AcceptedValues;
use crate::Rule;

pub(super) use self::build::COMPILER;
pub(super) use self::node::NODE_OPTIONS;

/// Variables that one program or library reads, and what their values can do.
pub(super) struct Group {
    /// The rule that denies them: R15 for the shell and what every program loads, R91 for the
    /// variables of one program.
    pub(super) rule: Rule,
    /// What a value can do, as the end of "may not be set:".
    pub(super) why: &'static str,
    /// Whether assignments that are not exported count as well.
    pub(super) reach: Reach,
    /// Names, separated by blanks.
    pub(super) names: &'static str,
    /// Beginnings of names, separated by blanks.
    pub(super) prefixes: &'static str,
    /// Names with such a beginning that change nothing of concern. They take any value.
    pub(super) free: &'static str,
    /// Names that take some values, and which.
    pub(super) accepts: &'static [(&'static str, AcceptedValues)],
}

impl Group {
    /// An empty group, for the fields that a group does not name.
    pub(super) const NONE: Self = Self {
        rule: Rule::R91,
        why: "",
        reach: Reach::Anywhere,
        names: "",
        prefixes: "",
        free: "",
        accepts: &[],
    };
}

/// Where an assignment to a variable counts. Names with accepted values count anywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Wherever it is set: the variable may be exported already.
    Anywhere,
    /// As [`Self::Anywhere`] for names; for prefixes in the environment of a command only, because
    /// scripts have variables of their own with such names.
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
    ]
    .into_iter()
    .flatten()
}
