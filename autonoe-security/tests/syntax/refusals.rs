//! Texts that the parser rejects.

use autonoe_security::syntax::{MAX_LENGTH, SyntaxErrorKind, parse};

fn kind(text: &str) -> SyntaxErrorKind {
    match parse(text) {
        Ok(tree) => panic!("{text:?} is accepted: {tree:?}"),
        Err(error) => error.kind,
    }
}

#[test]
fn syntax_that_hides_commands_is_unsupported() {
    for (text, construct) in [
        ("f() { a; }", "a function definition"),
        ("f () (a)", "a function definition"),
        ("function f { a; }", "a function definition"),
        ("coproc a", "a coprocess"),
        ("select x in a; do b; done", "select"),
        ("echo $[1+1]", "arithmetic in brackets"),
        ("echo \"$[1]\"", "arithmetic in brackets"),
        ("echo $\"a\"", "a translated string"),
        ("echo ${ a; }", "a command in ${ }"),
        ("echo ${| a; }", "a command in ${ }"),
        ("echo !(a)", "an extended glob"),
        ("ls @(a|b)", "an extended glob"),
        ("ls ?(a)", "an extended glob"),
        ("ls *(a)", "an extended glob"),
        ("ls +(a)", "an extended glob"),
        ("!(a)", "an extended glob"),
        ("a {fd}>f", "a variable for a descriptor"),
        ("{fd}<f a", "a variable for a descriptor"),
        ("echo ${x@P}", "the expansion of a prompt"),
        ("echo \"${x[1]@P}\"", "the expansion of a prompt"),
        ("echo ${!x}", "an indirect expansion"),
        ("echo ${!x[0]}", "an indirect expansion"),
        ("echo ${!x:-a}", "an indirect expansion"),
        ("echo ${!1}", "an indirect expansion"),
        ("a\\", "a backslash at the end"),
        ("a | time b", "time in the middle of a pipeline"),
        ("x=1 if", "a reserved word as a name"),
        (">f ! a", "a reserved word as a name"),
        ("case a in (esac) b;; esac", "esac as a pattern"),
        ("$(a <<E; b; c\nE\n)", "a here-document among commands"),
        ("$(a <<E\nE\nb; c)", "a here-document among commands"),
        (
            "echo ${a[$(case b in b) c;; esac)]}",
            "a command substitution of this kind in an expansion",
        ),
        (
            "echo ${a/$(b # )\n)/c}",
            "a command substitution of this kind in an expansion",
        ),
        (
            "echo $(( ${x/ #/} ))",
            "an expansion of this kind in arithmetic",
        ),
        ("$(time a)", "time first in a substitution"),
        ("$(\n! time a; b)", "time first in a substitution"),
        ("$({ a \\&; })", "& at the end of a word in a substitution"),
        ("\"$$(a)\"", "$$ directly before a parenthesis or brace"),
    ] {
        assert_eq!(
            kind(text),
            SyntaxErrorKind::Unsupported(construct),
            "{text:?}"
        );
    }
}

#[test]
fn unclosed_constructs_are_errors() {
    for (text, construct) in [
        ("'a", "quote"),
        ("\"a", "quote"),
        ("$'a", "quote"),
        ("`a", "back-quote"),
        ("$(a", "command substitution"),
        ("<(a", "process substitution"),
        ("${a", "expansion"),
        ("${a:-b", "expansion"),
        ("$((1)", "arithmetic"),
        ("((1", "parenthesis"),
        ("(a", "subshell"),
        ("{ a; ", "brace"),
        ("if a; then b; ", "if"),
        ("for x in a; do b; ", "loop"),
        ("while a; do b", "loop"),
        ("case a in b) c;;", "case"),
        ("[[ a", "condition"),
        ("a=(b", "array"),
        ("a <<E", "here-document"),
        ("a <<E\nb", "here-document"),
        ("a <<E\n E", "here-document"),
        ("a <<E\nE ", "here-document"),
        ("$(a <<E\nE)", "here-document"),
    ] {
        let found = kind(text);
        let expected = [SyntaxErrorKind::Unterminated(construct)];
        let in_substitution = [SyntaxErrorKind::Unsupported("text behind a delimiter")];
        assert!(
            expected.contains(&found)
                || text.starts_with("$(a <<") && in_substitution.contains(&found),
            "{text:?}: {found:?}"
        );
    }
}

#[test]
fn the_grammar_is_kept() {
    for text in [
        ";",
        "&",
        "|",
        "&&",
        "a;;",
        "a; ; b",
        "a & & b",
        "a &; b",
        "a |",
        "a &&",
        "| a",
        "a || ",
        "a\n;b",
        "()",
        "( )",
        "{ }",
        "{ ;}",
        "{ a }",
        "{a; }",
        "}",
        ")",
        "fi",
        "then",
        "do",
        "done",
        "esac",
        "in",
        "]]",
        "else",
        "elif",
        "if a; fi",
        "if a; then fi",
        "if ; then b; fi",
        "while ; do a; done",
        "while a; do done",
        "while a do b; done",
        "for; do a; done",
        "for 1 in a; do b; done",
        "for x in a do b; done",
        "for x in a | b; do c; done",
        "for x\n; do a; done",
        "for x { a; }",
        "for ((a;b)); do c; done",
        "for ((;;;)); do c; done",
        "case in a) b;; esac",
        "case a b) c;; esac",
        "case a in b c) d;; esac",
        "case a in ) b;; esac",
        "case a in b|) c;; esac",
        "case a in b) c esac",
        "case a in ((b) c;; esac",
        "(a) b",
        "(a) (b)",
        "{ a; } b",
        "a (b)",
        ">f (a)",
        "a=1 (b)",
        "if (a) >f then b; fi",
        "a <",
        "a > ;",
        "a >\n",
        "a > #f",
        "a <<\n",
        "cat <3>4",
        "cat <<<1>f",
        "a >&-b",
        ">&-a b",
        "a >& -b",
        "[[ ]]",
        "[[ a b ]]",
        "[[ -f ]]",
        "[[ a == ]]",
        "[[ a == b c ]]",
        "[[ a && ]]",
        "[[ ( a ]]",
        "[[ a ) ]]",
        "[[ 1<2 ]]",
        "[[ a\n]]",
        "[[ a\n== b ]]",
        "[[ a ==\nb ]]",
        "[[ -f\na ]]",
        "[[ a =~ (b ]]",
        "[[ a =~ b) ]]",
        "[[ a -a b ]]",
        "[[ -q a ]]",
        "[[ a == x(y) ]]",
        "a=(b",
        "a=(b;c)",
        "a=(>f)",
        "a=((b))",
        "echo a=(b)",
        "command declare a=(b)",
        "\"declare\" a=(b)",
        "declare >f a=(b)",
        "a=(b)c",
        "a[1",
        "a[1]",
        "a[1]b",
        "a[1]=(b)",
        "! && a",
        "time && a",
        "time | a",
        "(time)",
        "$(!)",
        "a | ! b",
        "echo ${}",
        "echo ${a b}",
        "echo ${a!}",
        "echo ${a@}",
        "echo ${a@QQ}",
        "$((a;b))",
        "$((a) )",
        "$((a);b)",
        "((a'))",
        "(( } ))",
        "99999999999>f",
        "a <(b",
        "<((a))",
        "a\rb",
        "# a\r\n",
    ] {
        assert!(parse(text).is_err(), "{text:?} is accepted");
    }
}

#[test]
fn braces_that_could_become_something_else_are_refused() {
    for text in [
        "echo {Z..a}",
        "echo {A..z}",
        "echo {$,a}HOME",
        "echo {$,a}{x@P}",
        "echo {a}b,c}",
        "echo {{a,b}",
        "echo {a..{b,c}}",
        "echo {,x}~/a",
        "echo ~{a,b}",
        "echo {~,a}",
        "echo {a,${x:-\\}}}",
        "echo {a,\"`b`\"}",
        "echo \"${x:-\"{a,b}\"}\"",
        "echo \"`a \"{b,c}\"`\"",
        "echo \"${x:-`a \"{b,c}\"`}\"",
        "echo {1..99999999999999999999}",
        "echo \"${x:-\"{a,b}\"}\"",
        "echo \"`a \"{b,c}\"`\"",
        "echo \"${x:-`a \"{b,c}\"`}\"",
    ] {
        assert!(parse(text).is_err(), "{text:?} is accepted");
    }
}

#[test]
fn control_characters_are_refused() {
    for text in [
        "a\0",
        "a\u{7}",
        "\u{1b}[m",
        "a\u{7f}",
        "a\rb",
        "a\r\n",
        "echo \u{202e}x",
        "'\u{2066}'",
    ] {
        assert_eq!(kind(text), SyntaxErrorKind::ForbiddenCharacter, "{text:?}");
    }
}

#[test]
fn a_text_may_be_so_long_and_no_longer() {
    let text = format!("echo {}", "a".repeat(MAX_LENGTH - 5));

    assert!(parse(&text).is_ok());
    assert_eq!(kind(&(text + "a")), SyntaxErrorKind::TooLong);
}

#[test]
fn parse_error_has_reason_and_position() {
    for (text, expected) in [
        ("ls; ; ls", "a command is missing at byte 4"),
        ("echo 'a", "the quote is never closed at byte 5"),
        ("ls )", "this is not allowed here at byte 3"),
        (
            "f() { a; }",
            "a function definition is not supported at byte 1",
        ),
        ("é \u{7}", "it contains a control character at byte 3"),
    ] {
        let error = parse(text).expect_err(text);

        assert_eq!(error.to_string(), expected);
        assert!(text.get(error.span.range()).is_some(), "{text:?}");
    }
}
