//! How options are spelt, and which one is meant.

use super::tables::Table;
use crate::option_table::Takes;

/// The long option that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Long {
    pub(super) name: &'static str,
    /// Whether it stands there with `no-`, to take it back.
    pub(super) is_negated: bool,
}

/// Tells what a short option takes; one that is not known is a flag.
pub(super) fn letter(table: Table, letter: char) -> Takes {
    let mut known = table.iter().filter_map(|options| options.letter(letter));
    known.next().unwrap_or(Takes::Nothing)
}

/// Finds the long option that `written`, without the dashes, means: itself, or the only one that
/// begins so.
pub(super) fn long(table: Table, written: &str) -> (Option<Long>, Takes) {
    let mut found: Option<(Long, Takes)> = None;
    let mut is_unclear = false;
    // Most options begin with another letter. Only `no-` may stand in front of any.
    let first = written.bytes().next().filter(|first| *first != b'n');
    let may_be_meant =
        |name: &str| first.is_none_or(|first| name.as_bytes().first() == Some(&first));
    let all = table.iter().flat_map(|options| options.long);
    for &(name, takes) in all.filter(|(name, _)| may_be_meant(name)) {
        let is_negated = !name.starts_with(written);
        if is_negated {
            let rest = written.strip_prefix("no-");
            if !rest.is_some_and(|rest| name.starts_with(rest)) {
                // `--no` may be the beginning of any.
                is_unclear |= "no-".starts_with(written);
                continue;
            }
        }
        let meant = Long { name, is_negated };
        let takes = if is_negated { Takes::Nothing } else { takes };
        let is_whole = match written.strip_prefix("no-") {
            Some(rest) if is_negated => rest == name,
            _ => written == name,
        };
        if is_whole {
            return (Some(meant), takes);
        }
        match found {
            Some((other, _)) if other != meant => is_unclear = true,
            Some(_) => {}
            None => found = Some((meant, takes)),
        }
    }
    // A subcommand that shares the options of a family takes its own only in full.
    is_unclear |= table.len() > 1;
    match found {
        Some((meant, takes)) if !is_unclear => (Some(meant), takes),
        _ => (None, Takes::Unclear),
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

    fn meant(written: &str) -> Option<(&'static str, bool)> {
        long(TABLE, written)
            .0
            .map(|long| (long.name, long.is_negated))
    }

    #[test]
    fn a_beginning_means_the_only_option_that_begins_so() {
        assert_eq!(meant("mess"), Some(("message", false)));
        assert_eq!(meant("force"), Some(("force", false)));
        assert_eq!(meant("forc"), None);
        assert_eq!(meant("no-mess"), Some(("message", true)));
        assert_eq!(meant("no-verify"), Some(("no-verify", false)));
        assert_eq!(meant("no"), None);
        assert_eq!(meant("other"), None);
    }

    #[test]
    fn a_subcommand_has_its_own_letters_before_those_of_its_family() {
        assert_eq!(letter(FAMILY, 'm'), Takes::Nothing);
        assert_eq!(letter(FAMILY, 'S'), Takes::Attached);
    }

    #[test]
    fn with_a_family_only_whole_names_are_clear() {
        assert_eq!(long(FAMILY, "message").1, Takes::Value);
        assert_eq!(long(FAMILY, "mess"), (None, Takes::Unclear));
    }

    #[test]
    fn what_is_not_known_may_take_the_next_argument() {
        assert_eq!(long(TABLE, "message").1, Takes::Value);
        assert_eq!(long(TABLE, "no-message").1, Takes::Nothing);
        assert_eq!(long(TABLE, "forc").1, Takes::Unclear);
        assert_eq!(long(TABLE, "other").1, Takes::Unclear);
        assert_eq!(letter(TABLE, 'm'), Takes::Value);
        assert_eq!(letter(TABLE, 'S'), Takes::Attached);
        assert_eq!(letter(TABLE, 'v'), Takes::Nothing);
    }
}
