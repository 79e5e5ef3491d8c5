//! The public API of one library as lines of text.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::Path;

use public_api::PublicItem;
use public_api::tokens::Token;

use crate::failure::Failure;

/// A trait that stable code cannot name. `derive(PartialEq)` implements it.
const DERIVE_MARKER: &str = "core::marker::StructuralPartialEq";

/// Crates that a library can re-export, because its API has their types.
const CRATES: &[&str] = &[
    "autonoe_core",
    "autonoe_process",
    "futures",
    "jiff",
    "schemars",
    "serde",
    "serde_json",
    "typetag",
];

/// The beginnings of the lines of types and traits.
const TYPE_KINDS: [&str; 6] = [
    "pub enum ",
    "pub struct ",
    "pub trait ",
    "pub type ",
    "pub union ",
    "pub unsafe trait ",
];

/// The public items of a library, one per line, an item with its fields, variants and functions.
///
/// Without blanket and auto-trait implementations, and without the functions of trait
/// implementations: the trait has them. Rustdoc leaves out hidden items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing(Vec<String>);

impl Listing {
    /// Reads the JSON that rustdoc has written.
    pub(super) fn from_rustdoc_json(path: &Path) -> Result<Self, Failure> {
        let api = public_api::Builder::from_rustdoc_json(path)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .build()
            .map_err(|source| Failure::new(format!("cannot read {}: {source}", path.display())))?;
        let trait_impls: HashSet<_> = api
            .items()
            .filter(|item| is_trait_impl(&item.to_string()))
            .map(PublicItem::id)
            .collect();
        let is_repeated = |item: &PublicItem| {
            let parent = item.parent_id();
            is_function(item) && parent.is_some_and(|parent| trait_impls.contains(&parent))
        };
        let items = api.items().filter(|item| !is_repeated(item));
        let lines = items.map(PublicItem::to_string);
        let mut lines: Vec<_> = lines.filter(|line| !line.contains(DERIVE_MARKER)).collect();
        lines.dedup();
        Ok(Self(lines))
    }

    /// Reads a committed listing.
    pub(super) fn parse(text: &str) -> Self {
        Self(text.lines().map(str::to_owned).collect())
    }

    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the names at the root of `library`, without modules and re-exported crates.
    pub(super) fn root_names(&self, library: &str) -> BTreeSet<&str> {
        let names = self.0.iter().filter_map(|line| root_name(line, library));
        names.filter(|name| !CRATES.contains(name)).collect()
    }

    /// Returns the names of the types and traits that `library` itself defines.
    ///
    /// A name counts once, however many paths lead to it. Re-exported items are lines with `pub use`.
    pub(super) fn type_names(&self, library: &str) -> BTreeSet<&str> {
        let names = self.0.iter().filter_map(|line| type_name(line, library));
        names.collect()
    }

    /// Returns removed lines after `- ` and added ones after `+ `, in the order of the listings.
    pub(super) fn changes(&self, new: &Self) -> Vec<String> {
        let [before, after] = [self, new].map(|listing| listing.0.iter().collect::<BTreeSet<_>>());
        let removed = self.0.iter().filter(|line| !after.contains(line));
        let added = new.0.iter().filter(|line| !before.contains(line));
        let removed = removed.map(|line| format!("- {line}"));
        removed
            .chain(added.map(|line| format!("+ {line}")))
            .collect()
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Returns the name of the item of a line, if it is at the root of `library` and no module.
fn root_name<'a>(line: &'a str, library: &str) -> Option<&'a str> {
    let (kind, path) = line.split_once(&format!("{library}::"))?;
    let kind = kind.rsplit_once("] ").map_or(kind, |(_, kind)| kind);
    let is_item = kind
        .strip_prefix("pub ")
        .is_some_and(|kind| !kind.is_empty() && kind != "mod ");
    let has_only_words = kind.chars().all(|c| c.is_alphabetic() || c == ' ');
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
    let (name, rest) = path.split_at(end.unwrap_or(path.len()));
    (is_item && has_only_words && !rest.starts_with("::")).then_some(name)
}

/// Returns the name of the type or trait of a line, without associated types.
fn type_name<'a>(line: &'a str, library: &str) -> Option<&'a str> {
    let (kind, path) = line.split_once(&format!("{library}::"))?;
    let kind = kind.rsplit_once("] ").map_or(kind, |(_, kind)| kind);
    if !TYPE_KINDS.contains(&kind) {
        return None;
    }
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let path = path[..end.unwrap_or(path.len())].trim_end_matches(':');
    let mut parents = path.rsplit("::");
    let name = parents.next()?;
    let is_associated = parents.any(|parent| parent.starts_with(char::is_uppercase));
    (!is_associated).then_some(name)
}

/// Says whether a line is `impl Trait for Type`. A bound such as `for<'a>` has no space there.
fn is_trait_impl(line: &str) -> bool {
    let is_impl = line.starts_with("impl") || line.starts_with("unsafe impl");
    is_impl && line.contains(" for ")
}

/// Says whether an item is a function, rather than a type that contains one.
fn is_function(item: &PublicItem) -> bool {
    let kind = item.tokens().find_map(|token| match token {
        Token::Kind(kind) => Some(kind.as_str()),
        _ => None,
    });
    kind == Some("fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_removed_and_added_lines() {
        let before = Listing::parse("pub mod a\npub fn a::b()\npub fn a::d()\n");
        let after = Listing::parse("pub mod a\npub fn a::b(u8)\npub fn a::c()\npub fn a::d()\n");

        assert_eq!(
            before.changes(&after),
            ["- pub fn a::b()", "+ pub fn a::b(u8)", "+ pub fn a::c()"]
        );
        assert!(after.changes(&after).is_empty());
    }

    #[test]
    fn type_names_are_those_of_defined_types() {
        let listing = Listing::parse(
            "pub mod a\n\
             pub use a::Reexported\n\
             pub trait a::Judge: core::marker::Send\n\
             pub trait a::executor::Judge: core::marker::Send\n\
             #[non_exhaustive] pub struct a::run::Report<'a, T>\n\
             pub struct a::Id(_)\n\
             pub enum a::Exit\n\
             pub a::Exit::Done\n\
             pub type a::Id::Err = a::InvalidId\n\
             pub fn a::Exit::new() -> a::Exit\n\
             impl a::Judge for a::Id\n",
        );

        assert_eq!(
            listing.type_names("a"),
            BTreeSet::from(["Exit", "Id", "Judge", "Report"])
        );
    }

    #[test]
    fn root_names_are_those_of_items() {
        let listing = Listing::parse(
            "pub mod a\n\
             pub use a::serde\n\
             pub use a::b\n\
             pub mod a::inner\n\
             pub struct a::inner::Inner\n\
             pub fn a::inner::f(a::Inner)\n\
             #[non_exhaustive] pub enum a::C\n\
             pub a::C::D(a::E)\n\
             impl a::C\n\
             pub const fn a::f<T: a::G>() -> a::H\n\
             pub macro a::i!\n",
        );

        let names = listing.root_names("a");

        assert_eq!(names, BTreeSet::from(["C", "b", "f", "i"]));
    }

    #[test]
    fn trait_implementations_are_recognized() {
        for line in [
            "impl core::clone::Clone for a::B",
            "impl<T: a::C> a::D<T> for a::B<T>",
            "unsafe impl core::marker::Send for a::B",
        ] {
            assert!(is_trait_impl(line), "{line}");
        }
        for line in [
            "impl a::B",
            "impl<F> a::B<F> where F: for<'a> core::ops::function::Fn(&'a str)",
            "pub fn a::c() -> impl a::D",
        ] {
            assert!(!is_trait_impl(line), "{line}");
        }
    }

    #[test]
    fn a_listing_is_read_as_it_was_written() {
        let text = "pub mod a\npub fn a::b()\n";

        let listing = Listing::parse(text);

        assert_eq!(listing.to_string(), text);
        assert_eq!(listing.len(), 2);
    }
}
