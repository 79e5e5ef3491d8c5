//! Parsing of brace expansions.

use crate::syntax::outline::check;

#[test]
fn alternatives_and_sequences_multiply_words() {
    check([
        ("a {b,c}", "[a <{b|c}>]"),
        ("a x{b,c}y{1..3}", "[a x<{b|c}>y<1..3>]"),
        ("a {b,{c,d}e}", "[a <{b|<{c|d}>e}>]"),
        ("a {,b} c{,}", "[a <{|b}> c<{|}>]"),
        (
            "a {1..9..2} {a..e} {01..10} {-1..1}",
            "[a <1..9..2> <a..e> <01..10> <-1..1>]",
        ),
        ("a {\"b,c\",d} {b\\,c,d}", "[a <{'b,c'|d}> <{b','c|d}>]"),
        ("a {$b,$(c)}", "[a <{<$b>|<$([c])>}>]"),
        ("a \"x\"{b,c}'y'", "[a 'x'<{b|c}>'y']"),
        ("a {b*,c?}", "[a <{b<*>|c<?>}>]"),
        ("a ~/{b,c}", "[a <~>/<{b|c}>]"),
        ("a x=~/{b,c}", "[a x=~/<{b|c}>]"),
        ("a {{b},c} {b}{c,d}", "[a <{{b}|c}> {b}<{c|d}>]"),
    ]);
}

#[test]
fn other_braces_are_text() {
    check([
        ("a {} {b} x{1}y @{u}", "[a {} {b} x{1}y @{u}]"),
        ("a {b c}", "[a {b c}]"),
        ("a {b,c d,e}", "[a {b,c d,e}]"),
        (
            "a '{b,c}' \\{b,c} {b\\,c} {b\",\"c}",
            "[a '{b,c}' '{'b,c} {b','c} {b','c}]",
        ),
        ("a {1..b} {1..} {..}", "[a {1..b} {1..} {..}]"),
        ("a {1..$n}", "[a {1..<$n>}]"),
        ("a ${b,,} {b${c,,}}", "[a <$b case > {b<$c case >}]"),
        ("a b,c ..", "[a b,c ..]"),
    ]);
}
