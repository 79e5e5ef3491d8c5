//! Parsing of lists and pipelines.

use crate::syntax::outline::check;

#[test]
fn nothing_is_a_script() {
    check([
        ("", ""),
        ("  \t", ""),
        ("\n\n", ""),
        ("# only a comment", ""),
        ("#a\n  #b\n", ""),
    ]);
}

#[test]
fn commands_run_one_after_another() {
    check([
        ("a", "[a]"),
        ("a; b", "[a]; [b]"),
        ("a;b;", "[a]; [b]"),
        ("a\nb\n\n\nc", "[a]; [b]; [c]"),
        ("a & b &", "[a] &; [b] &"),
        ("a & b", "[a] &; [b]"),
        ("a;#c\nb #d\nc#d", "[a]; [b]; [c#d]"),
    ]);
}

#[test]
fn pipelines_are_joined() {
    check([
        ("a && b || c; d", "[a] && [b] || [c]; [d]"),
        ("a &&\n\n b ||\nc", "[a] && [b] || [c]"),
        ("a && # why\n b", "[a] && [b]"),
        ("a | b |& c |\nd", "[a] | [b] | [c] | [d]"),
        ("a|b&&c|d&", "[a] | [b] && [c] | [d] &"),
    ]);
}

#[test]
fn time_and_bang_are_no_commands() {
    check([
        ("! a", "! [a]"),
        ("! ! a", "[a]"),
        ("time a | b", "time [a] | [b]"),
        ("time -p a", "time [a]"),
        ("time -- a", "time [a]"),
        ("time -p -- a", "time [a]"),
        ("time -v a", "time [-v a]"),
        ("time ! a", "time ! [a]"),
        ("! time a", "time ! [a]"),
        ("time", "time []"),
        ("! ; a", "! []; [a]"),
        ("time { a; }", "time {[a]}"),
        ("!a", "[!a]"),
        ("timed", "[timed]"),
    ]);
}

#[test]
fn reserved_words_are_words_elsewhere() {
    check([
        (
            "echo if then fi { } ! [[ time",
            "[echo if then fi { } ! [[ time]",
        ),
        ("'if' a", "['if' a]"),
        ("\\if a", "['i'f a]"),
        ("ifx", "[ifx]"),
    ]);
}
