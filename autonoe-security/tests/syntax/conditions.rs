//! Parsing of `[[ .. ]]` conditions.

use crate::syntax::outline::check;

#[test]
fn operators_take_words() {
    check([
        ("[[ a ]]", "[[ a ]]"),
        ("[[ -f $x ]]", "[[ -f <$x> ]]"),
        ("[[ -f a && -d b || c ]]", "[[ -f a && -d b || c ]]"),
        ("[[ ! -e \"$(a)\" ]]", "[[ ! -e \"<$([a])>\" ]]"),
        ("[[ ( a || b ) && c ]]", "[[ ( a || b ) && c ]]"),
        ("[[ $x == a* ]]", "[[ <$x> == a<*> ]]"),
        ("[[ a = b && c != d ]]", "[[ a = b && c != d ]]"),
        ("[[ a<b ]]", "[[ a < b ]]"),
        ("[[ a > b ]]", "[[ a > b ]]"),
        ("[[ $(a) -eq 1 ]]", "[[ <$([a])> -eq 1 ]]"),
        ("[[ -z -f ]]", "[[ -z -f ]]"),
        ("[[ if == {a,b} ]]", "[[ if == {a,b} ]]"),
        ("[[ a == b ]] && c", "[[ a == b ]] && [c]"),
    ]);
}

#[test]
fn lines_may_end_between_terms() {
    check([
        (
            "[[ -f a &&\n -f b\n|| -f c\n]]",
            "[[ -f a && -f b || -f c ]]",
        ),
        ("[[\n( -f a\n)\n]]", "[[ ( -f a ) ]]"),
        ("[[ # c\n ! # d\n a ]]", "[[ ! a ]]"),
    ]);
}

#[test]
fn regular_expressions_are_one_word() {
    check([
        ("[[ a =~ ^[0-9]+$ ]]", "[[ a =~ ^[0-9]+$ ]]"),
        ("[[ a =~ (a b|c)* ]]", "[[ a =~ (a b|c)* ]]"),
        ("[[ a =~ a|b ]]", "[[ a =~ a|b ]]"),
        ("[[ a =~ \\.c$x ]]", "[[ a =~ '.'c<$x> ]]"),
        ("[[ a =~ \"b c\"$(d) ]]", "[[ a =~ 'b c'<$([d])> ]]"),
    ]);
}

#[test]
fn extended_globs_are_patterns() {
    check([
        ("[[ a == @(a|b)c ]]", "[[ a == @(a|b)c ]]"),
        ("[[ a != +([0-9])* ]]", "[[ a != +([0-9])<*> ]]"),
    ]);
}
