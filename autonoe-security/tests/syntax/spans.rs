//! Spans of the nodes in a syntax tree.

use autonoe_security::syntax::{
    ArgWord, AssignedValue, CommandKind, Condition, Part, RedirectTarget, Script, Word, commands,
    parse,
};

use crate::syntax::bash_corpus::corpus;

fn words<'t, 'a>(tree: &'t Script<'a>) -> Vec<&'t Word<'a>> {
    commands(tree)
        .flat_map(|command| &command.words)
        .filter_map(|word| match word {
            ArgWord::Word(word) => Some(word),
            ArgWord::Array(_) => None,
        })
        .collect()
}

#[test]
fn word_spans_cover_their_text() {
    let text = "é 'b c' \"$d\"; $(f g) {h,i} ~/j";
    let tree = parse(text).expect("it parses");

    let found: Vec<&str> = words(&tree)
        .iter()
        .map(|word| &text[word.span.range()])
        .collect();

    assert_eq!(
        found,
        ["é", "'b c'", "\"$d\"", "$(f g)", "{h,i}", "~/j", "f", "g"]
    );
}

#[test]
fn a_span_covers_the_whole_of_a_node() {
    let text = "  a b >f  |  { c; } 2>&1 && ! d  &  \n e";
    let tree = parse(text).expect("it parses");

    let part = |span: autonoe_security::syntax::Span| &text[span.range()];
    let first = &tree.items[0];
    assert_eq!(part(tree.span), "a b >f  |  { c; } 2>&1 && ! d  &  \n e");
    assert_eq!(part(first.span), "a b >f  |  { c; } 2>&1 && ! d");
    assert_eq!(part(first.pipelines[0].1.span), "a b >f  |  { c; } 2>&1");
    assert_eq!(part(first.pipelines[1].1.span), "! d");
    let commands = &first.pipelines[0].1.commands;
    assert_eq!(part(commands[0].span), "a b >f");
    assert_eq!(part(commands[0].redirects[0].span), ">f");
    assert_eq!(part(commands[1].span), "{ c; } 2>&1");
    assert_eq!(part(commands[1].redirects[0].span), "2>&1");
}

#[test]
fn here_document_spans_cover_their_text() {
    let text = "a <<E\nb $c\nE\n";
    let tree = parse(text).expect("it parses");

    let redirect = &tree.items[0].pipelines[0].1.commands[0].redirects[0];
    let RedirectTarget::HereDocument(document) = &redirect.target else {
        panic!("{redirect:?}");
    };
    assert_eq!(&text[redirect.span.range()], "<<E");
    assert_eq!(&text[document.span.range()], "b $c\n");
    let [_, Part::Parameter(parameter), _] = &document.body[..] else {
        panic!("{document:?}");
    };
    assert_eq!(&text[parameter.span.range()], "$c");
}

#[test]
fn words_in_back_quotes_share_the_outer_span() {
    let text = "a `b \\`c d\\``";
    let tree = parse(text).expect("it parses");

    let found: Vec<&str> = words(&tree)
        .iter()
        .map(|word| &text[word.span.range()])
        .collect();

    let whole = "`b \\`c d\\``";
    assert_eq!(found, ["a", whole, whole, whole, whole, whole]);
}

#[test]
fn spans_lie_on_boundaries() {
    for text in corpus() {
        let Ok(tree) = parse(&text) else { continue };
        for word in words(&tree) {
            assert!(
                text.get(word.span.range())
                    .is_some_and(|part| !part.is_empty()),
                "{text:?}"
            );
        }
        for item in &tree.items {
            let CommandKind::Simple(simple) = &item.pipelines[0].1.commands[0].kind else {
                continue;
            };
            let raw = &text[item.span.range()];
            if let (Some(ArgWord::Word(name)), true) =
                (simple.words.first(), simple.assignments.is_empty())
            {
                assert!(raw.contains(&text[name.span.range()]), "{text:?}");
            }
        }
    }
}

#[test]
fn simple_command_span_excludes_outer_redirections() {
    for (text, expected) in [
        ("A=1 npm test", "A=1 npm test"),
        (">a echo x >b y <c", "echo x >b y"),
        (" x=1", "x=1"),
        ("> f", ""),
        ("time", ""),
        ("declare -a xs=(a b)", "declare -a xs=(a b)"),
    ] {
        let tree = parse(text).expect("it parses");
        let simple = commands(&tree).next().expect("a command");

        assert_eq!(&text[simple.span.range()], expected, "{text:?}");
    }
}

#[test]
fn compound_commands_and_their_parts_have_places() {
    let text = "if a; then b; elif c; then d; fi; while e; do f; done; for g in h; do i; done; \
                for ((;;)); do j; done; case k in (l) m;; n) o; esac; p=(q [1]=r)";
    let tree = parse(text).expect("it parses");
    let part = |span: autonoe_security::syntax::Span| &text[span.range()];

    let mut found = Vec::new();
    for item in &tree.items {
        match &item.pipelines[0].1.commands[0].kind {
            CommandKind::If(inner) => {
                found.push(part(inner.span));
                found.extend(inner.branches.iter().map(|branch| part(branch.span)));
            }
            CommandKind::While(inner) => found.push(part(inner.span)),
            CommandKind::For(inner) => found.push(part(inner.span)),
            CommandKind::ArithmeticFor(inner) => found.push(part(inner.span)),
            CommandKind::Case(inner) => {
                found.push(part(inner.span));
                found.extend(inner.arms.iter().map(|arm| part(arm.span)));
            }
            CommandKind::Simple(inner) => {
                let AssignedValue::Array(elements) = &inner.assignments[0].value else {
                    panic!("{inner:?}");
                };
                found.extend(elements.iter().map(|element| part(element.span)));
            }
            other => panic!("{other:?}"),
        }
    }

    assert_eq!(
        found,
        [
            "if a; then b; elif c; then d; fi",
            "a; then b",
            "c; then d",
            "while e; do f; done",
            "for g in h; do i; done",
            "for ((;;)); do j; done",
            "case k in (l) m;; n) o; esac",
            "(l) m;;",
            "n) o; ",
            "q",
            "[1]=r",
        ]
    );
}

#[test]
fn every_part_of_a_condition_has_a_place() {
    let text = "[[ ! -f a && ( b == c* || d ) ]]";
    let tree = parse(text).expect("it parses");
    let CommandKind::Condition(whole) = &tree.items[0].pipelines[0].1.commands[0].kind else {
        panic!("{tree:?}");
    };

    let mut found = Vec::new();
    let mut left = vec![whole.as_ref()];
    while let Some(condition) = left.pop() {
        found.push(&text[condition.span().range()]);
        match condition {
            Condition::And(first, second) | Condition::Or(first, second) => {
                left.extend([second.as_ref(), first.as_ref()]);
            }
            Condition::Not(inner, _) | Condition::Group(inner, _) => left.push(inner),
            _ => {}
        }
    }

    assert_eq!(
        found,
        [
            "! -f a && ( b == c* || d )",
            "! -f a",
            "-f a",
            "( b == c* || d )",
            "b == c* || d",
            "b == c*",
            "d",
        ]
    );
}
