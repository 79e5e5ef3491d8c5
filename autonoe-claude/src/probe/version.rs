//! Reads which version a program says that it is.

use super::ask::{Answer, End};
use crate::outcome::Exit;

/// Returns the numbers of the version, if the answer is one that Claude Code would give.
pub(super) fn numbers(answer: &Answer) -> Option<[u32; 3]> {
    let ended_well = answer.end == End::Exited(Exit::Code(0));
    // Many a program says three numbers for its version.
    let is_its_own = answer.said.to_lowercase().contains("claude");
    if !ended_well || !is_its_own {
        return None;
    }
    let word = answer.said.split_whitespace().next()?;
    let mut parts = word.split('.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers_of_claude_code() {
        let well = End::Exited(Exit::Code(0));
        for (said, end, found) in [
            ("2.1.197 (Claude Code)", well, Some([2, 1, 197])),
            ("2.1 (Claude Code)", well, None),
            ("v2.1.3 (Claude Code)", well, None),
            ("10.2.3", well, None),
            ("", well, None),
            ("2.1.197 (Claude Code)", End::Exited(Exit::Code(1)), None),
            ("2.1.197 (Claude Code)", End::Exited(Exit::Signal(9)), None),
            ("2.1.197 (Claude Code)", End::TookTooLong, None),
            ("2.1.197 (Claude Code)", End::WroteTooMuch, None),
        ] {
            let answer = Answer {
                said: said.to_owned(),
                stderr: String::new(),
                end,
            };
            assert_eq!(numbers(&answer), found, "{said:?} {end:?}");
        }
    }
}
