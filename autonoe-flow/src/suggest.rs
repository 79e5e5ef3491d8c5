//! What a misspelled word was meant to be.

/// Returns the one of `known` that `word` is most likely meant to be.
pub(crate) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // One slip in three letters is a slip; more is another word.
    let length = word.chars().count();
    let most = (length / 3).max(1);
    known
        .into_iter()
        .map(|candidate| {
            let distance = strsim::osa_distance(&word, &candidate.to_lowercase());
            (distance, candidate)
        })
        // A word of which nothing is left is another word too.
        .filter(|(distance, _)| *distance <= most && *distance < length)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Asks whether one of `known` was meant by `word`, else lists them.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match suggest(word, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let known: Vec<&str> = known.into_iter().take(MOST).collect();
            match known.as_slice() {
                [] => "there are none".to_owned(),
                [only] => format!("there is only `{only}`"),
                known => format!("known are `{}`", known.join("`, `")),
            }
        }
    }
}

/// So many names are listed at most.
const MOST: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        const KNOWN: [&str; 3] = ["draft", "review", "repair-again"];

        for (word, told) in [
            ("reveiw", "did you mean `review`?"),
            ("Draft", "did you mean `draft`?"),
            ("d", "known are `draft`, `review`, `repair-again`"),
            ("repair", "known are `draft`, `review`, `repair-again`"),
        ] {
            assert_eq!(did_you_mean(word, KNOWN), told, "{word}");
        }
        assert_eq!(did_you_mean("x", []), "there are none");
    }
}
