//! Spellings and abbreviations of git options.

use super::tables::Table;
use crate::option_table::OptionArity;

/// A resolved long option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Long {
    pub(super) name: &'static str,
    /// Whether it is negated with `no-`.
    pub(super) is_negated: bool,
}

/// Returns what a short option takes; an unknown one is a flag.
pub(super) fn letter(table: Table, letter: char) -> OptionArity {
    let mut known = table.iter().filter_map(|options| options.letter(letter));
    known.next().unwrap_or(OptionArity::Nothing)
}

/// Resolves the long option `written`, without the dashes: an exact match, or the only option with
/// this prefix.
pub(super) fn long(table: Table, written: &str) -> (Option<Long>, OptionArity) {
    let mut found: Option<(Long, OptionArity)> = None;
    let mut is_unclear = false;
    // Most options start with another letter. Only `no-` may precede any of them.
    let first = written.bytes().next().filter(|first| *first != b'n');
    let may_match = |name: &str| first.is_none_or(|first| name.as_bytes().first() == Some(&first));
    let all = table.iter().flat_map(|options| options.long);
    for &(name, takes) in all.filter(|(name, _)| may_match(name)) {
        let is_negated = !name.starts_with(written);
        if is_negated {
            let rest = written.strip_prefix("no-");
            if !rest.is_some_and(|rest| name.starts_with(rest)) {
                // `--no` may be a prefix of any negated option.
                is_unclear |= "no-".starts_with(written);
                continue;
            }
        }
        let matched = Long { name, is_negated };
        let takes = if is_negated {
            OptionArity::Nothing
        } else {
            takes
        };
        let is_whole = match written.strip_prefix("no-") {
            Some(rest) if is_negated => rest == name,
            _ => written == name,
        };
        if is_whole {
            return (Some(matched), takes);
        }
        match found {
            Some((other, _)) if other != matched => is_unclear = true,
            Some(_) => {}
            None => found = Some((matched, takes)),
        }
    }
    // A subcommand that shares the options of a family accepts its own only in full.
    is_unclear |= table.len() > 1;
    match found {
        Some((matched, takes)) if !is_unclear => (Some(matched), takes),
        _ => (None, OptionArity::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = &[&options!(
        "m:S?v",
        "message= force force-with-lease? no-verify verify"
    )];

    const FAMILY: Table = &[&options!("m"), TABLE[0]];

    fn matched(written: &str) -> Option<(&'static str, bool)> {
        long(TABLE, written)
            .0
            .map(|long| (long.name, long.is_negated))
    }

    #[test]
    fn a_beginning_means_the_only_option_that_begins_so() {
        assert_eq!(matched("mess"), Some(("message", false)));
        assert_eq!(matched("force"), Some(("force", false)));
        assert_eq!(matched("forc"), None);
        assert_eq!(matched("no-mess"), Some(("message", true)));
        assert_eq!(matched("no-verify"), Some(("no-verify", false)));
        assert_eq!(matched("no"), None);
        assert_eq!(matched("other"), None);
    }

    #[test]
    fn a_subcommand_has_its_own_letters_before_those_of_its_family() {
        assert_eq!(letter(FAMILY, 'm'), OptionArity::Nothing);
        assert_eq!(letter(FAMILY, 'S'), OptionArity::Attached);
    }

    #[test]
    fn with_a_family_only_whole_names_are_clear() {
        assert_eq!(long(FAMILY, "message").1, OptionArity::Value);
        assert_eq!(long(FAMILY, "mess"), (None, OptionArity::Unknown));
    }

    #[test]
    fn options_are_classified_by_arity() {
        assert_eq!(long(TABLE, "message").1, OptionArity::Value);
        assert_eq!(long(TABLE, "no-message").1, OptionArity::Nothing);
        assert_eq!(long(TABLE, "forc").1, OptionArity::Unknown);
        assert_eq!(long(TABLE, "other").1, OptionArity::Unknown);
        assert_eq!(letter(TABLE, 'm'), OptionArity::Value);
        assert_eq!(letter(TABLE, 'S'), OptionArity::Attached);
        assert_eq!(letter(TABLE, 'v'), OptionArity::Nothing);
    }
}
