//! Variables that programs read, and the lookup of one by its name.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::accepted_values::AcceptedValues;
use super::tables::{self, Group, Reach};
use crate::Rule;
use crate::check::names::Names;

/// Prefixes that are case-insensitive, because their programs read them that way.
const PREFIXES_IN_ANY_CASE: &[&str] = words!("npm_config_ pnpm_config_ yarn_");

const PROXIES: &[&str] = words!("http_proxy https_proxy all_proxy no_proxy ftp_proxy");

const ANY_CASE: Group = Group {
    rule: Rule::R15,
    reason: "a package manager reads its settings from it, or connections go through it",
    ..Group::NONE
};

/// The entry of a variable in the tables.
#[derive(Clone, Copy)]
pub(super) struct TableEntry {
    pub(super) group: &'static Group,
    /// The accepted values; `None` if there are none.
    pub(super) accepts: Option<&'static AcceptedValues>,
    /// Whether assignments without an export are checked as well.
    pub(super) counts_anywhere: bool,
}

#[derive(Clone, Copy)]
enum Entry {
    Free,
    Listed(TableEntry),
}

struct Index {
    names: Names<Entry>,
    /// Indexed by their first byte.
    prefixes: HashMap<u8, Vec<(&'static str, &'static Group)>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        names: Names::default(),
        prefixes: HashMap::new(),
    };
    for group in tables::all() {
        let denied = TableEntry {
            group,
            accepts: None,
            counts_anywhere: group.reach != Reach::Exported,
        };
        for name in group.names.split_ascii_whitespace() {
            index.names.insert(name, Entry::Listed(denied));
        }
        for name in group.free.split_ascii_whitespace() {
            index.names.insert(name, Entry::Free);
        }
        for (names, accepts) in group.accepts {
            let found = TableEntry {
                group,
                accepts: Some(accepts),
                counts_anywhere: true,
            };
            for name in names.split_ascii_whitespace() {
                index.names.insert(name, Entry::Listed(found));
            }
        }
        for prefix in group.prefixes.split_ascii_whitespace() {
            let prefixes = index.prefixes.entry(prefix.as_bytes()[0]);
            prefixes.or_default().push((prefix, group));
        }
    }
    index
});

/// Returns the entry of the variable `name`; `None` if no program of the tables reads it, or if any
/// value is accepted.
pub(super) fn find(name: &str, is_exported: bool) -> Option<TableEntry> {
    let counts = |found: &TableEntry| is_exported || found.counts_anywhere;
    match INDEX.names.get(name) {
        Some(Entry::Free) => return None,
        Some(Entry::Listed(found)) => return Some(*found).filter(counts),
        None => {}
    }
    let starts_in_any_case = |prefix: &&str| {
        let start = name.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if PREFIXES_IN_ANY_CASE.iter().any(starts_in_any_case)
        || PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy))
    {
        return Some(TableEntry {
            group: &ANY_CASE,
            accepts: None,
            counts_anywhere: true,
        });
    }
    let prefixes = INDEX.prefixes.get(name.as_bytes().first()?)?;
    let (_, group) = prefixes
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))?;
    let is_version = group.rule == Rule::R91 && name.ends_with("_VERSION");
    let found = TableEntry {
        group,
        // No program reads the id of a process from such a variable, apart from SSH's agent.
        accepts: match name {
            _ if is_version => Some(&AcceptedValues::Name),
            _ if name.ends_with("_PID") && !name.starts_with("SSH_") => Some(&AcceptedValues::Job),
            _ => None,
        },
        counts_anywhere: group.reach == Reach::Anywhere,
    };
    Some(found).filter(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_listed_twice_and_every_group_has_a_reason() {
        let mut seen = std::collections::BTreeSet::new();
        for group in tables::all() {
            assert!(!group.reason.is_empty(), "{}", group.names);
            let accepted = group.accepts.iter().map(|(names, _)| *names);
            for name in [group.names, group.free]
                .into_iter()
                .chain(accepted)
                .flat_map(str::split_ascii_whitespace)
            {
                assert!(seen.insert(name), "{name}");
            }
        }
        assert!(seen.len() > 400, "{}", seen.len());
    }

    #[test]
    fn exact_names_prefixes_and_letter_case_are_found() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "GIT_X",
            "MANPATH",
            "MANROFFOPT",
            "RUSTDOCFLAGS",
            "CARGO",
            "PYTEST_ADDOPTS",
            "https_proxy",
            "HTTPS_PROXY",
            "Npm_Config_X",
            "yarn_X",
        ] {
            assert!(find(name, false).is_some(), "{name}");
        }
        for name in ["RUFF_X", "NODE_X", "TOX_X", "BUNDLE_X", "COMPOSER_X"] {
            assert!(find(name, true).is_some(), "{name}");
            assert!(find(name, false).is_none(), "{name}");
        }
        for name in [
            "",
            "A",
            "Path",
            "PATHS",
            "PROXY",
            "X_LD_",
            "CI",
            "GOOS",
            "NODE_DEBUG",
        ] {
            assert!(find(name, true).is_none(), "{name}");
        }
    }
}
