//! Compares the parser with Bash on the corpus.

use autonoe_security::syntax::parse;

use crate::common::corpus::{cases, command};
use crate::syntax::bash::Bash;

/// The commands of the corpus.
pub(crate) fn corpus() -> Vec<String> {
    cases().iter().map(command).collect()
}

#[test]
fn bash_accepts_corpus_texts_that_parse() {
    let mut bash = Bash::for_syntax();
    let (mut accepted, mut refused, mut refused_by_choice) = (0, 0, 0);

    for text in corpus() {
        if text.contains('\0') {
            continue;
        }
        let valid = bash.accepts(&text);
        match parse(&text) {
            Ok(_) => {
                accepted += 1;
                assert!(valid, "{text:?}");
            }
            Err(_) if valid => refused_by_choice += 1,
            Err(_) => refused += 1,
        }
    }

    println!("accepted {accepted}, refused {refused}, refused by choice {refused_by_choice}");
    assert!(accepted > 12_000);
}

#[test]
fn allowed_corpus_commands_parse() {
    for case in cases() {
        let text = command(&case);

        if case["expect"] == "allow" {
            assert!(parse(&text).is_ok(), "{text:?}: {:?}", parse(&text));
        }
    }
}
