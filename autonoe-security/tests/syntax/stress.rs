//! Long and deeply nested texts on a small stack.

use std::time::Instant;

use autonoe_security::syntax::{MAX_LENGTH, commands, parse};

/// Repeated text, with the text in the middle and the closing text.
const UNITS: &[(&str, &str, &str)] = &[
    ("(", "a", ")"),
    ("( ", "a", " )"),
    ("((", "a", "))"),
    ("$(", "a", ")"),
    ("$((", "1", "))"),
    ("${x:-", "a", "}"),
    ("\"${x:-", "a", "}\""),
    ("\"$(", "a", ")\""),
    ("<(", "a", ")"),
    ("`", "a", "`"),
    ("{ ", "a", "; }"),
    ("{", "a", "}"),
    ("{a,", "b", "}"),
    ("{", "a,b", "}"),
    ("{1..", "2", "}"),
    ("if a; then ", "b", "; fi"),
    ("while a; do ", "b", "; done"),
    ("case a in b) ", "c", ";; esac"),
    ("[[ ( ", "a", " ) ]]"),
    ("[[ a && ", "b", " ]]"),
    ("a ", "", ""),
    ("a;", "", ""),
    ("a|", "", ""),
    ("a&&", "", ""),
    ("a\n", "", ""),
    ("$x", "", ""),
    ("\"a\"", "", ""),
    ("'a'", "", ""),
    ("\\a", "", ""),
    ("$'\\x41'", "", ""),
    ("*", "", ""),
    ("[", "", ""),
    ("]", "", ""),
    ("~", "", ""),
    ("a=~:", "", ""),
    ("{", "", ""),
    ("}", "", ""),
    ("{,", "", ""),
    ("{,}", "", ""),
    ("$", "", ""),
    ("`", "", ""),
    ("\\`", "", ""),
    ("\\", "", ""),
    ("\\\n", "", ""),
    ("'", "", ""),
    ("\"", "", ""),
    ("#\n", "", ""),
    (";", "", ""),
    ("<", "", ""),
    ("<<", "", ""),
    ("<<<a ", "", ""),
    (">a ", "", ""),
    ("2>&1 ", "", ""),
    ("<<E ", "", ""),
    ("a <<E\nb\nE\n", "", ""),
    ("a <<E\n", "", ""),
    ("! ", "", ""),
    ("time ", "", ""),
    ("x=1 ", "", ""),
    ("x=(a ", "", ""),
    ("x[", "1", "]=1"),
    ("x=([ ", "", ""),
    ("x=([[", "", ""),
    ("$((", "", ""),
    ("((", "", ""),
    ("((a);", "", ""),
    ("((\"", "", ""),
    ("(( $(", "", ""),
    ("((\"$(", "", ""),
    ("1+", "", ""),
    ("${", "", ""),
    ("${x/", "", ""),
    ("${x[", "1", "]}"),
    ("[[ a =~ (", "b", ") ]]"),
    ("[[ a == +(", "b", ") ]]"),
    (")", "", ""),
    ("for ", "", ""),
    ("é", "", ""),
    ("\"${x:-'", "a", "'}\""),
    ("$(cat <<E\n", "a", "\nE\n)"),
    ("a()", "", ""),
    ("9", "", ""),
];

/// Text before it.
const PREFIXES: [&str; 8] = ["", "echo ", "\"", "(( ", "cat <<E\n", "x=(", "`", "\"${x:-"];

fn text(prefix: &str, (open, middle, close): (&str, &str, &str), count: usize) -> String {
    let room = (MAX_LENGTH - prefix.len() - middle.len() - 2) / (open.len() + close.len());
    let count = count.min(room);
    let end = if prefix.starts_with("cat") { "\nE" } else { "" };
    format!(
        "{prefix}{}{middle}{}{end}",
        open.repeat(count),
        close.repeat(count)
    )
}

#[test]
fn no_text_is_too_long_or_too_deep_for_a_small_stack() {
    let reads_all = || {
        let mut slowest = (std::time::Duration::ZERO, String::new());
        for unit in UNITS {
            for prefix in PREFIXES {
                for count in [10, 100, 2000, MAX_LENGTH] {
                    let text = text(prefix, *unit, count);
                    let begin = Instant::now();
                    if let Ok(tree) = parse(&text) {
                        let _ = commands(&tree).count();
                        if count <= 100 {
                            assert_eq!(tree.clone().into_owned(), tree);
                        }
                    }
                    let name = format!("{prefix:?} and {count} times {unit:?}");
                    slowest = slowest.max((begin.elapsed(), name));
                }
            }
        }
        slowest
    };

    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(reads_all);

    let slowest = thread.expect("it starts").join().expect("it ends");
    println!("slowest: {slowest:?}");
}

#[test]
fn no_text_makes_it_panic() {
    let mut mutator = crate::common::mutate::Mutator::new(3, crate::syntax::bash_corpus::corpus());
    for _ in 0..20_000 {
        let text = mutator.text();
        let _ = parse(&text);
        // Every prefix of a text is a text as well.
        let cut = (0..=mutator.below(text.len() + 1))
            .rev()
            .find(|at| text.is_char_boundary(*at));
        let _ = parse(&text[..cut.unwrap_or(0)]);
    }
}
