//! Formats counts with their nouns.

/// Formats a count with its noun: `1 session`, `2 sessions`.
pub(crate) fn pluralize(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pluralize_keeps_one_singular() {
        let texts = [0, 1, 2].map(|count| pluralize(count, "member"));

        assert_eq!(texts, ["0 members", "1 member", "2 members"]);
    }
}
