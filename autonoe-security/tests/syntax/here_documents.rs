//! Parsing of here-documents.

use crate::syntax::outline::check;

#[test]
fn here_document_body_follows_its_line() {
    check([
        ("a <<E\nb\nc\nE\nd", "[a] <<E:'b\nc\n'; [d]"),
        ("a <<E\nE", "[a] <<E:"),
        ("a << E | b\nc\nE\n", "[a] <<E:'c\n' | [b]"),
        (
            "a <<E; b <<F\n1\nE\n2\nF\nc",
            "[a] <<E:'1\n'; [b] <<F:'2\n'; [c]",
        ),
        (
            "a <<'A' > f; b <<'B' > g\none\nA\ntwo\nB",
            "[a] <<A:'one\n' >f; [b] <<B:'two\n' >g",
        ),
        (
            "if a <<E; then\n1\nE\nb; fi",
            "if [a] <<E:'1\n' then [b] fi",
        ),
        ("{ a <<E; } <<F\n1\nE\n2\nF", "{[a] <<E:'1\n'} <<F:'2\n'"),
        ("a <<E &&\n1\nE\nb", "[a] <<E:'1\n' && [b]"),
        ("a <<E # c\n1\nE", "[a] <<E:'1\n'"),
    ]);
}

#[test]
fn a_quoted_delimiter_makes_text() {
    check([
        ("a <<'E'\n$(b) `c` $d\nE", "[a] <<E:'$(b) `c` $d\n'"),
        ("a <<\\E\n$b\nE", "[a] <<E:'$b\n'"),
        ("a <<\"E F\"\n$b\nE F", "[a] <<E F:'$b\n'"),
        ("a <<E'O'F\n\\\nEOF", "[a] <<EOF:'\\\n'"),
        ("a <<''E\n$b\\\nE", "[a] <<E:'$b\\\n'"),
    ]);
}

#[test]
fn expansions_happen_behind_a_plain_delimiter() {
    check([
        (
            "a <<E\nx $b ${c:-d} $(e) `f` $((1))\nE",
            "[a] <<E:'x '<$b>' '<$c :- 'd'>' '<$([e])>' '<$([f])>' '<((1))>'\n'",
        ),
        (
            "a <<E\n\\$b \\`c\\` \\\\ \\d \"e\" 'f'\nE",
            "[a] <<E:'$b `c` \\ \\d \"e\" 'f'\n'",
        ),
        (
            "a <<E\n$(b <<F\nc\nF\n)\nE",
            "[a] <<E:<$([b] <<F:'c\n')>'\n'",
        ),
        ("a <<E\n$ $' $\"\nE", "[a] <<E:'$ $' $\"\n'"),
    ]);
}

#[test]
fn tabs_are_stripped_on_demand() {
    check([
        ("a <<-E\n\tb\n\t\tc\td\n\tE", "[a] <<E:'b\nc\td\n'"),
        ("a <<-'E'\n\t$b\nc\n\tE\nd", "[a] <<E:'$b\nc\n'; [d]"),
        ("a <<-E\n\t$(b)\n\tE", "[a] <<E:<$([b])>'\n'"),
        ("a <<E\n\tE\nE", "[a] <<E:'\tE\n'"),
    ]);
}

#[test]
fn lines_may_continue_in_a_body() {
    check([
        ("a <<E\nb \\\n  c\nE", "[a] <<E:'b   c\n'"),
        ("a <<E\nb \\\\\nE", "[a] <<E:'b \\\n'"),
        ("a <<E\nb\\\nE\nE", "[a] <<E:'bE\n'"),
        ("a <<'E'\nb\\\nE", "[a] <<E:'b\\\n'"),
    ]);
}

#[test]
fn here_document_is_parsed_in_substitution() {
    check([
        (
            "a \"$(b <<'E'\nit's `x`\nE\n)\" c",
            "[a \"<$([b] <<E:'it's `x`\n')>\" c]",
        ),
        (
            "a <<E $(b <<F\n1\nF\n)\n2\nE",
            "[a <$([b] <<F:'1\n')>] <<E:'2\n'",
        ),
        ("a `b <<E\n1\nE`", "[a <$([b] <<E:'1\n')>]"),
    ]);
}
