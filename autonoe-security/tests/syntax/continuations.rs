//! Parsing of line continuations.

use autonoe_security::syntax::parse;

use crate::syntax::outline::check;

#[test]
fn a_line_may_continue_between_words() {
    check([
        ("a \\\n b", "[a b]"),
        ("a\\\n b", "[a b]"),
        ("a && \\\n\\\n  b", "[a] && [b]"),
        ("a &&\\\nb", "[a] && [b]"),
        ("a |\\\n b", "[a] | [b]"),
        ("a;\\\nb", "[a]; [b]"),
        ("a\\\n;b", "[a]; [b]"),
        ("a >\\\nf", "[a] >f"),
        ("x=\\\n a", "[x= a]"),
        ("x=(a \\\n b)", "[x=(a b)]"),
        ("a ~\\\n b", "[a <~> b]"),
        ("\\\na", "[a]"),
        ("a \\\n", "[a]"),
    ]);
}

#[test]
fn a_line_may_continue_in_double_quotes() {
    check([
        ("\"a\\\nb\"", "['ab']"),
        ("\"a\\\n$b \\\n\"", "[\"'a'<$b>' '\"]"),
        ("\"${a}\\\nb\"", "[\"<$a>'b'\"]"),
        ("'a\\\nb'", "['a\\\nb']"),
    ]);
}

#[test]
fn a_token_may_not_be_split_over_lines() {
    for text in [
        "e\\\nval a",
        "i\\\nf a; then b; fi",
        "if\\\n a; then b; fi",
        "a &\\\n& b",
        "a |\\\n| b",
        "a >\\\n> f",
        "a >&\\\n- b",
        "2\\\n>f",
        "a <<\\\n-E\n\tE",
        "$\\\n(a)",
        "\"$\\\n(a)\"",
        "\"$a\\\nb\"",
        "$a\\\nb",
        "${a\\\n}",
        "$(\\\n(a) )",
        "(\\\n(a) )",
        "a=\\\n(b)",
        "a\\\n=b",
        "`a \\\n b`",
        "a <<E\n$\\\n(b)\nE",
        "a <<E\n$b\\\nc\nE",
        "a <<E\n$(b \\\n c)\nE",
        "a <<E\nE\\\n\nE",
        "a <<E\n\\\nE\n",
        "\"${a:-\\\nb}\"",
        "time\\\n -p a",
        "[[ a ]\\\n] ]]",
    ] {
        assert!(parse(text).is_err(), "{text:?} is accepted");
    }
}
