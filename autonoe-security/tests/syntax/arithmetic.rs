//! Parsing of arithmetic.

use crate::syntax::outline::check;

#[test]
fn expressions_are_tokens() {
    check([
        ("((a=1+2*b))", "((a = 1 + 2 * b))"),
        (
            "(( a <<= 2, b++ ? c : ~d ))",
            "((a <<= 2 , b ++ ? c : ~ d))",
        ),
        ("((16#ff + 0x1F))", "((16#ff + 0x1F))"),
        ("(( (a) ))", "((( a )))"),
        ("((((a))))", "((( ( a ) )))"),
        ("((a\n+b))", "((a + b))"),
        ("(( ))", "(())"),
        ("(( x[1] > 2 )) && a", "((x [ 1 ] > 2)) && [a]"),
    ]);
}

#[test]
fn arithmetic_is_parsed_in_words() {
    check([
        (
            "echo $((1+2)) \"a$((b))\"",
            "[echo <((1 + 2))> \"'a'<((b))>\"]",
        ),
        (
            "echo $(( $(a) + ${#x} + $y ))",
            "[echo <((<$([a])> + <$x length> + <$y>))>]",
        ),
        ("echo $(($((1))))", "[echo <((<((1))>))>]"),
        ("echo $(( \"$x\" ))", "[echo <((\"<$x>\"))>]"),
        ("echo $(( `a` ))", "[echo <((<$([a])>))>]"),
    ]);
}

#[test]
fn subscripts_are_expressions() {
    check([
        ("echo ${a[i+1]}", "[echo <$a[i + 1]>]"),
        ("echo ${a[${b[0]}]}", "[echo <$a[<$b[0]>]>]"),
        (
            "echo ${a[\"k v\"]} ${a['k']}",
            "[echo <$a['k v']> <$a['k']>]",
        ),
        ("echo ${a[x.y]}", "[echo <$a[x . y]>]"),
        ("a[$(b)]=c", "[a[<$([b])>]=c]"),
    ]);
}
