//! Parsing of redirections.

use crate::syntax::outline::check;

#[test]
fn redirections_are_parsed_anywhere() {
    check([
        ("a > f", "[a] >f"),
        (">f a b", "[a b] >f"),
        ("a >f b <g c", "[a b c] >f <g"),
        ("> f", "[] >f"),
        ("a>f", "[a] >f"),
        ("a >> f >| g <> h", "[a] >>f >|g <>h"),
        ("a &> f &>> g", "[a] &>f &>>g"),
        ("a > \"$x\" < ~/f", "[a] >\"<$x>\" <<~>/f"),
        ("a > {b,c}", "[a] ><{b|c}>"),
    ]);
}

#[test]
fn a_number_before_the_operator_is_a_descriptor() {
    check([
        ("a 2>f", "[a] 2>f"),
        ("a 2 >f", "[a 2] >f"),
        ("a b2>f", "[a b2] >f"),
        ("a '2'>f", "[a '2'] >f"),
        ("a 2>&1 >&2 3<&0 4>&- <&-", "[a] 2>&1 >&2 3<&0 4>&- <&-"),
        ("a >& f 2>&1>g", "[a] >&f 2>&1 >g"),
        ("a 10>f", "[a] 10>f"),
        ("a {b,c}>f", "[a <{b|c}>] >f"),
    ]);
}

#[test]
fn here_strings_are_words() {
    check([
        ("a <<< b", "[a] <<<b"),
        ("a <<<\"$b c\"", "[a] <<<\"<$b>' c'\""),
        ("a <<< {b,c}", "[a] <<<{b,c}"),
    ]);
}

#[test]
fn process_substitutions_are_parts_of_words() {
    check([
        ("a <(b) >(c | d)", "[a <@([b])> <@([c] | [d])>]"),
        ("a < <(b)", "[a] <<@([b])>"),
        ("a > >(b) 2>(c)", "[a 2<@([c])>] ><@([b])>"),
        ("a x<(b)y", "[a x<@([b])>y]"),
        ("\"<(a)\"", "['<(a)']"),
    ]);
}
