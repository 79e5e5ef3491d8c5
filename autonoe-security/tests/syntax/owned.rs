//! Syntax trees that own their text.

use autonoe_security::syntax::{Script, parse};

use crate::syntax::bash_corpus::corpus;

#[test]
fn an_owned_tree_outlives_its_text() {
    let owned: Script<'static> = {
        let text = String::from("for x in a; do b \"$(c)\" <<E\n$d\nE\ndone");
        parse(&text).expect("it parses").into_owned()
    };

    assert_eq!(
        crate::syntax::outline::script(&owned),
        "for x in a do [b \"<$([c])>\"] <<E:<$d>'\n' done"
    );
}

#[test]
fn an_owned_tree_is_equal() {
    for text in corpus() {
        if let Ok(tree) = parse(&text) {
            assert_eq!(tree.clone().into_owned(), tree, "{text:?}");
        }
    }
}
