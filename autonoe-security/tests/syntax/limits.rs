//! Limits on the depth and the size of texts.

use autonoe_security::syntax::{SyntaxErrorKind, commands, parse};

/// Nested constructs: the opening text, the innermost text, the closing text.
const NESTED: [(&str, &str, &str); 20] = [
    ("$(a ", "b", ")"),
    ("\"$(a ", "b", ")\""),
    ("<(a ", "b", ")"),
    ("(", "a;b", "; c)"),
    ("( ", "a", " )"),
    ("{ ", "a", "; }"),
    ("if a; then ", "b", "; fi"),
    ("if ", "a", "; then b; fi"),
    ("while a; do ", "b", "; done"),
    ("for x in a; do ", "b", "; done"),
    ("for ((;;)); do ", "b", "; done"),
    ("case a in b) ", "c", ";; esac"),
    ("${a:-", "b", "}"),
    ("\"${a:-", "b", "}\""),
    ("${a#", "b", "}"),
    ("$((1 + ", "1", "))"),
    ("${a[", "1", "]}"),
    ("echo {a,", "b", "}"),
    ("x=$(a ", "b", ")"),
    ("a <<< $(b ", "c", ")"),
];

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    // Only the outermost of these is a command.
    let again = open.strip_prefix("echo ").unwrap_or(open);
    format!(
        "{open}{}{inner}{}",
        again.repeat(depth - 1),
        close.repeat(depth)
    )
}

#[test]
fn sixteen_levels_are_followed() {
    for (open, inner, close) in NESTED {
        let text = nested(open, inner, close, 16);

        assert!(parse(&text).is_ok(), "{text:?}: {:?}", parse(&text));
    }
}

#[test]
fn more_than_sixty_four_levels_are_refused() {
    for (open, inner, close) in NESTED {
        let text = nested(open, inner, close, 65);

        let error = parse(&text).expect_err(&text);
        assert_eq!(error.kind, SyntaxErrorKind::TooDeep, "{text:?}");
    }
}

#[test]
fn nested_conditions_have_a_depth_limit() {
    for (open, close) in [("( ", " )"), ("! ", ""), ("a && ", ""), ("a || ", "")] {
        let text = |depth: usize| format!("[[ {}b{} ]]", open.repeat(depth), close.repeat(depth));

        assert!(parse(&text(16)).is_ok(), "{}", text(16));
        assert!(parse(&text(65)).is_err(), "{}", text(65));
    }
}

#[test]
fn there_may_be_many_commands() {
    for separator in ["; ", " | ", " && ", "\n", " & "] {
        let text = ["a"; 5000].join(separator);

        assert_eq!(commands(&parse(&text).expect("it parses")).count(), 5000);
    }
}
