//! Suggestions for misspelled words.

/// The maximum number of names that a hint lists.
const MOST_LISTED: usize = 12;

/// Returns the one of `known` that `word` is most likely a misspelling of.
///
/// ```
/// use autonoe_core::project::suggest;
///
/// assert_eq!(suggest("porfile", ["profile", "hooks"]), Some("profile"));
/// assert_eq!(suggest("sandbox", ["profile", "hooks"]), None);
/// ```
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    // One wrong letter in three is a slip; more make another word.
    let most = (length / 3).max(1);
    known
        .into_iter()
        .map(|candidate| {
            let distance = strsim::osa_distance(&word, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= most && *distance < length)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns a hint for the unknown `word`: the similar word, or else the known words.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(suggestion) = suggest(word, known.clone()) {
        return format!("did you mean `{suggestion}`?");
    }
    let known: Vec<&str> = known.into_iter().take(MOST_LISTED).collect();
    match known.as_slice() {
        [] => "there are none".to_owned(),
        [only] => format!("the only known one is `{only}`"),
        known => format!("known are `{}`", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_typos_get_a_suggestion() {
        const KNOWN: [&str; 4] = ["profile", "permissions", "mcpServers", "review"];

        for (word, suggestion) in [
            ("profil", Some("profile")),
            ("porfile", Some("profile")),
            ("Profile", Some("profile")),
            ("mcpservers", Some("mcpServers")),
            ("mcp_servers", Some("mcpServers")),
            ("permission", Some("permissions")),
            ("reveiw", Some("review")),
            ("sandbox", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(suggest(word, KNOWN), suggestion, "{word}");
        }
    }

    #[test]
    fn the_known_words_are_listed_when_no_word_is_similar() {
        assert_eq!(
            did_you_mean("a", ["draft", "review"]),
            "known are `draft`, `review`"
        );
        assert_eq!(
            did_you_mean("a", ["draft"]),
            "the only known one is `draft`"
        );
        assert_eq!(did_you_mean("a", []), "there are none");
    }
}
