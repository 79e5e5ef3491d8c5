//! Parsing of assignments and arrays.

use crate::syntax::outline::check;

#[test]
fn assignments_are_parsed_before_the_name() {
    check([
        ("A=1", "[A=1]"),
        ("A=1 B=\"x y\" c d=e", "[A=1 B='x y' c d=e]"),
        ("A=", "[A=]"),
        ("A= b", "[A= b]"),
        ("A+=b", "[A+=b]"),
        ("A=b=c", "[A=b=c]"),
        ("A=$(b) c", "[A=<$([b])> c]"),
        ("a[1]=b a[i+1]+=c", "[a[1]=b a[i + 1]+=c]"),
        (">f A=1 b", "[A=1 b] >f"),
        ("A=1 >f B=2 c", "[A=1 B=2 c] >f"),
        ("1a=b", "[1a=b]"),
        ("'a'=b", "['a'=b]"),
        ("a-b=c", "[a-b=c]"),
    ]);
}

#[test]
fn arrays_have_elements() {
    check([
        ("a=()", "[a=()]"),
        ("a=(b \"c d\" $(e))", "[a=(b 'c d' <$([e])>)]"),
        ("a+=(b)", "[a+=(b)]"),
        ("a=(\n  b # c\n  d\n)", "[a=(b d)]"),
        (
            "a=([k]=v [\"x y\"]=z [1+1]= w)",
            "[a=([k]=v ['x y']=z [1 + 1]= w)]",
        ),
        ("a=(*.c [a-z]* {1,2})", "[a=(<*>.c <[>a-z]<*> <{1|2}>)]"),
        ("a=(if then)", "[a=(if then)]"),
        ("a=(b) c", "[a=(b) c]"),
    ]);
}

#[test]
fn declarations_take_arrays() {
    check([
        ("declare -a a=(b c) d=e f", "[declare -a a=(b c) d=e f]"),
        ("local a=($(b)) c+=(d)", "[local a=(<$([b])>) c+=(d)]"),
        ("x=1 export a=(b)", "[x=1 export a=(b)]"),
    ]);
}

#[test]
fn values_are_not_multiplied_by_braces() {
    check([
        ("a={b,c}", "[a={b,c}]"),
        ("a[1]={b,c}", "[a[1]={b,c}]"),
        ("declare a={b,c}", "[declare a=<{b|c}>]"),
    ]);
}
