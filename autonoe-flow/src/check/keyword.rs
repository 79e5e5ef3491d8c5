//! A check by words.

use super::StepCheckResult;
use crate::definition::{KeywordCheck, KeywordMode};
use crate::progress::{stands_in, words_in};

pub(super) fn check(check: &KeywordCheck, text: &str) -> StepCheckResult {
    let holds = check
        .mode
        .holds(&check.keywords, |word| stands_in(word, text));
    match holds {
        true => {
            let said: Vec<&str> = words_in(text, &check.keywords).collect();
            StepCheckResult::passed(format!("the agent said {}", listed(&said)))
        }
        false => {
            let missing = check.keywords.iter().filter(|word| !stands_in(word, text));
            let missing: Vec<&str> = missing.map(String::as_str).collect();
            let said = match check.mode {
                KeywordMode::Any => "said none of",
                KeywordMode::All => "did not say",
            };
            StepCheckResult::failed(format!("the agent {said} {}", listed(&missing)))
        }
    }
}

fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
