//! Texts with the commands that each of them can run.

use std::collections::BTreeSet;

use autonoe_security::syntax::{ArgWord, Script, commands, parse};

/// Returns the names of the commands of a tree; `?` for one that is unknown before it runs.
pub(crate) fn names(tree: &Script<'_>) -> BTreeSet<String> {
    commands(tree)
        .filter_map(|command| command.words.first())
        .map(|word| match word {
            ArgWord::Word(word) => word.static_text().map_or("?".to_owned(), Into::into),
            ArgWord::Array(_) => "?".to_owned(),
        })
        .collect()
}

fn check<const N: usize>(table: [(&str, &str); N]) {
    for (text, expected) in table {
        let tree = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));

        let expected: BTreeSet<String> = expected.split_whitespace().map(str::to_owned).collect();
        assert_eq!(names(&tree), expected, "{text:?}");
    }
}

#[test]
fn commands_in_lists_and_compound_commands() {
    check([
        ("a; b & c && d || e\nf | g |& h", "a b c d e f g h"),
        ("(a; { b; })", "a b"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("while a; do b; done; until c; do d; done", "a b c d"),
        (
            "for x in $(a); do b; done; for ((i=$(c);;)); do d; done",
            "a b c d",
        ),
        ("case $(a) in $(b)) c;; *) d;; esac", "a b c d"),
        ("[[ $(a) == $(b) && -f `c` ]]", "a b c"),
        ("(( $(a) + `b` ))", "a b"),
        ("! a; time b; time -p c", "a b c"),
    ]);
}

#[test]
fn commands_in_words() {
    check([
        ("a $(b) `c` <(d) >(e) \"$(f)\" \"`g`\"", "a b c d e f g"),
        (
            "a ${x:-$(b)} ${x:=`c`} ${x:+\"$(d)\"} ${x:?$(e)}",
            "a b c d e",
        ),
        (
            "a ${x#$(b)} ${x%%`c`} ${x/$(d)/$(e)} ${x^^$(f)}",
            "a b c d e f",
        ),
        ("a ${x:$(b):$(c)} ${x[$(d)]} ${#x[$(e)]}", "a b c d e"),
        ("a $(( $(b) )) $((x[$(c)]))", "a b c"),
        ("a {$(b),`c`} x$(d)y", "a b c d"),
        ("a \"${x:-`b`}\" \"${x:-$(c)}\" \"${x:-'$(d)'}\"", "a b c d"),
        ("a \"$(b \"$(c \"`d`\")\")\"", "a b c d"),
        ("`a \\`b \\\\\\`c\\\\\\`\\``", "a ? b c"),
        ("a $(b $(c $(d)))", "a b c d"),
    ]);
}

#[test]
fn commands_in_assignments_and_redirections() {
    check([
        ("x=$(a) b", "a b"),
        ("x=(a $(b) [1]=$(c) [$(d)]=e)", "b c d"),
        ("x[$(a)]=`b`", "a b"),
        ("declare x=($(a)) y=$(b)", "declare a b"),
        ("a > $(b) < <(c) 2> >(d) <<< $(e)", "a b c d e"),
        ("{ a; } > \"$(b)\"", "a b"),
        ("> $(a)", "a"),
    ]);
}

#[test]
fn commands_in_here_documents() {
    check([
        ("a <<E; b\n`c`\n$(d)\nE\ne", "a b c d e"),
        ("a <<-E\n\t$(b)\n\tE", "a b"),
        ("a <<E\n${x:-$(b)} $((`c`))\nE", "a b c"),
        ("a <<'E'\n$(b)\nE\nc", "a c"),
        ("a $(b <<E\n$(c)\nE\n)", "a b c"),
        ("a <<E\n\\$(b) $(c)\nE", "a c"),
    ]);
}

#[test]
fn data_is_no_command() {
    check([
        ("a '$(b)' \"\\$(c)\" '`d`' \\`e\\` $'$(f)' # $(g)", "a"),
        ("a \"b; c\" 'd | e' f\\;g", "a"),
        ("a if b then c", "a"),
    ]);
}

#[test]
fn a_name_that_is_made_up_later_is_no_name() {
    check([
        ("$x a; \"$y\"; ~/b; c*; {d,e} f; $(g)", "? g"),
        ("\\a 'b' \"c\" d'e'f $'\\x67'", "a"),
        ("'b'; \"c\"; d'e'f; $'\\x67'; \\h", "b c def g h"),
    ]);
}
