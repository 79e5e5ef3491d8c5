//! Parsing of compound commands.

use crate::syntax::outline::check;

#[test]
fn subshells_and_groups_hold_lists() {
    check([
        ("(a; b)", "([a]; [b])"),
        ("( a\n)", "([a])"),
        ("{ a; b; }", "{[a]; [b]}"),
        ("{ a & }", "{[a] &}"),
        ("{ { a; } }", "{{[a]}}"),
        ("{(a)}", "{([a])}"),
        ("( (a) )", "(([a]))"),
        ("((a); b)", "(([a]); [b])"),
        ("(((a); b); c)", "((([a]); [b]); [c])"),
        ("{ a; } > f 2>&1 | b", "{[a]} >f 2>&1 | [b]"),
    ]);
}

#[test]
fn conditions_and_bodies_are_lists() {
    check([
        ("if a; then b; fi", "if [a] then [b] fi"),
        (
            "if a\nthen b\nelif c; d; then e; else f; fi",
            "if [a] then [b] elif [c]; [d] then [e] else [f] fi",
        ),
        ("if (a) then b; fi", "if ([a]) then [b] fi"),
        ("if { a; } then { b; } fi", "if {[a]} then {[b]} fi"),
        (
            "if a; then if b; then c; fi fi",
            "if [a] then if [b] then [c] fi fi",
        ),
        ("while a; do b; done", "while [a] do [b] done"),
        ("until a; do b; done < f", "until [a] do [b] done <f"),
        ("while (a) do b; done", "while ([a]) do [b] done"),
    ]);
}

#[test]
fn loops_have_words() {
    check([
        (
            "for x in a \"b\" $c; do d; done",
            "for x in a 'b' <$c> do [d] done",
        ),
        ("for x in; do a; done", "for x in  do [a] done"),
        ("for x; do a; done", "for x in @ do [a] done"),
        ("for x do a; done", "for x in @ do [a] done"),
        ("for x\nin a b\ndo c\ndone", "for x in a b do [c] done"),
        (
            "for x in do done; do a; done",
            "for x in do done do [a] done",
        ),
        ("for in in in; do a; done", "for in in in do [a] done"),
        (
            "for x in {1..3} *.c; do a; done",
            "for x in <1..3> <*>.c do [a] done",
        ),
        ("for x in $(a); do b; done", "for x in <$([a])> do [b] done"),
    ]);
}

#[test]
fn arithmetic_loops_have_three_clauses() {
    check([
        (
            "for ((i=0; i<3; i++)); do a; done",
            "for ((i = 0; i < 3; i ++)) do [a] done",
        ),
        ("for((;;)) do a; done", "for ((; ; )) do [a] done"),
        (
            "for ((a=$(b);;))\ndo c; done",
            "for ((a = <$([b])>; ; )) do [c] done",
        ),
    ]);
}

#[test]
fn cases_have_arms() {
    check([
        ("case $x in a) b;; esac", "case <$x> in a) [b];; esac"),
        (
            "case x in (a|b*) c;; *) d; esac",
            "case x in a|b<*>) [c];; <*>) [d];; esac",
        ),
        (
            "case x in\n a ) b ;&\n c) d;;& esac",
            "case x in a) [b];; c) [d];; esac",
        ),
        ("case x in esac", "case x in  esac"),
        ("case x in a) esac", "case x in a) ;; esac"),
        (
            "case x in a) ;; b) # c\n;; esac",
            "case x in a) ;; b) ;; esac",
        ),
        (
            "case x in if) a;; (do) b;; esac",
            "case x in if) [a];; do) [b];; esac",
        ),
        (
            "case $(a) in $(b)) c;; esac",
            "case <$([a])> in <$([b])>) [c];; esac",
        ),
        ("case x\nin a) (b) esac", "case x in a) ([b]);; esac"),
    ]);
}
