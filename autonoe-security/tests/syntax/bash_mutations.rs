//! Compares the parser with Bash on mutations of the corpus.

use autonoe_security::syntax::parse;

use crate::common::mutate::{Mutator, number};
use crate::syntax::bash::Bash;
use crate::syntax::bash_corpus::corpus;

/// Number of texts; a longer run sets it.
const TEXTS: &str = "AUTONOE_SYNTAX_TEXTS";

/// Seed of the texts.
const SEED: &str = "AUTONOE_SYNTAX_SEED";

/// Number of rejected texts that Bash checks, for statistics only.
const REFUSED: usize = 1000;

#[test]
fn bash_accepts_mutations_that_parse() {
    let mut mutator = Mutator::new(number(SEED, 1), corpus());
    let mut bash = Bash::for_syntax();
    let (mut accepted, mut refused, mut refused_by_choice) = (0, 0, 0);

    for _ in 0..number(TEXTS, 20_000) {
        let text = mutator.text();
        match parse(&text) {
            Ok(_) => {
                accepted += 1;
                assert!(bash.accepts(&text), "Bash refuses {text:?}");
            }
            Err(_) if refused < REFUSED => {
                refused += 1;
                refused_by_choice += usize::from(bash.accepts(&text));
            }
            Err(_) => {}
        }
    }

    println!("accepted {accepted}; of {refused} refused ones Bash accepts {refused_by_choice}");
    assert!(accepted > 1000, "the mutations are too wild");
}
