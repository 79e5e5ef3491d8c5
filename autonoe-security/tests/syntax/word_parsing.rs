//! Parsing of words.

use crate::syntax::outline::check;

#[test]
fn quotes_are_removed() {
    check([
        ("'a b'", "['a b']"),
        ("\"a b\"", "['a b']"),
        ("a'b'\"c\"\\d", "[a'bcd']"),
        ("''", "['']"),
        ("\"\"", "['']"),
        ("a\\ b", "[a' 'b]"),
        ("\"a\\\"b\\\\c\\$d\\`e\\f\"", "['a\"b\\c$d`e\\f']"),
        ("'a\\b'", "['a\\b']"),
        ("$'a\\tb\\x41\\'c'", "['a\tbA'c']"),
        ("r\\m", "[r'm']"),
        ("é\\é", "[é'é']"),
        ("\"a\nb\"", "['a\nb']"),
        ("\"a\r\nb\" '\r'", "['a\r\nb' '\r']"),
    ]);
}

#[test]
fn patterns_are_seen() {
    check([
        ("a*b?c", "[a<*>b<?>c]"),
        ("'*' \\* \"?\"", "['*' '*' '?']"),
        ("[a-z]x", "[<[>a-z]x]"),
        ("[ a ]", "[[ a ]]"),
        ("echo a[", "[echo a[]"),
        ("echo [a", "[echo [a]"),
        ("echo ]a[b]c[d", "[echo ]a<[>b]c[d]"),
        ("echo [\"]\"", "[echo [']']"),
    ]);
}

#[test]
fn home_directories_are_seen() {
    check([
        ("~ ~/a ~b ~b/c ~+", "[<~> <~>/a <~b> <~b>/c <~+>]"),
        ("a~ \\~ '~' \"~\" a/~", "[a~ '~' '~' '~' a/~]"),
        ("~'a' ~$a ~\\a", "[~'a' ~<$a> ~'a']"),
        ("a=~ b=c:~/d", "[a=<~> b=c:<~>/d]"),
        ("x a=~ a=b:~ --a=~ 1a=~", "[x a=<~> a=b:<~> --a=~ 1a=~]"),
        ("x ~:a ~=~", "[x <~>:a <~>=~]"),
        ("a=(~ b=~)", "[a=(<~> b=~)]"),
        ("x <<< a:~", "[x] <<<a:<~>"),
        ("case ~ in ~) a;; esac", "case <~> in <~>) [a];; esac"),
    ]);
}

#[test]
fn only_ascii_blanks_separate_words() {
    check([
        ("a\u{a0}b", "[a\u{a0}b]"),
        ("a\u{2003}b\tc", "[a\u{2003}b c]"),
    ]);
}

#[test]
fn a_hash_begins_a_comment_only_at_the_beginning_of_a_word() {
    check([
        ("a#b", "[a#b]"),
        ("a #b", "[a]"),
        ("a \"\"#b", "[a ''#b]"),
        ("x=#a", "[x=#a]"),
        ("a \\#b", "[a '#'b]"),
        ("a \\\n#b\nc", "[a]; [c]"),
    ]);
}

#[test]
fn a_dollar_may_be_only_a_character() {
    check([
        ("$ a$ \"$\" $/ \"a$\"", "[$ a$ '$' $/ 'a$']"),
        ("\"$'a'\"", "['$'a'']"),
        ("\\$x '$x'", "['$'x '$x']"),
    ]);
}
