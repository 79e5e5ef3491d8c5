//! Suffixes of backup copies, which become part of a file name.

use super::arg::Arg;
use super::call::Checked;
use crate::{Denial, Rule};

/// Names that a suffix must not complete.
const PROTECTED: [&str; 3] = [".git", ".autonoe", ".harness"];

/// Checks that a backup suffix cannot complete a protected name, or lead to another directory.
///
/// `cp -b -S it new .g` renames `.g` to `.git`.
pub(crate) fn check(suffix: &Arg<'_>) -> Checked {
    let problem = match suffix.known() {
        None => "is unknown until it runs",
        Some(text) if text.contains(['/', '\\']) => "leads to another directory",
        Some(text) if completes_protected_name(text) => "may complete a protected name",
        Some(_) => return Ok(()),
    };
    let reason = format!("the backup suffix '{}' {problem}", suffix.text);
    Err(Denial::by(Rule::R95, suffix.span, reason).instead("use the suffix .bak"))
}

fn completes_protected_name(suffix: &str) -> bool {
    let lower = suffix.to_ascii_lowercase();
    !lower.is_empty() && PROTECTED.iter().any(|name| name.ends_with(&lower))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Span;

    #[test]
    fn a_suffix_must_not_complete_a_protected_name() {
        for (suffix, is_fine) in [
            (".bak", true),
            ("~", true),
            (".orig", true),
            ("", true),
            ("-old", true),
            ("it", false),
            ("T", false),
            ("noe", false),
            ("ness", false),
            (".git", false),
            ("/x", false),
            ("/../.git", false),
        ] {
            let arg = Arg::plain(suffix, Span::new(0, 0));
            assert_eq!(check(&arg).is_ok(), is_fine, "{suffix}");
        }
    }
}
