//! Texts that make Bash run `evil` in ways that are easy to overlook. The parser must reject each
//! text, or `evil` must be in the tree.

use autonoe_security::syntax::parse;

use crate::syntax::probes::names;

const TRICKS: [&str; 54] = [
    // The halves of a token on two lines.
    "echo \"$\\\n(evil)\"",
    "echo $\\\n(evil)",
    "cat <<E\n$\\\n(evil)\nE",
    "cat <<E\\\nOF\ntext\nEOF\nevil",
    "e\\\nvil",
    // Quotes that do not protect.
    "echo \"${x:-'$(evil)'}\"",
    "echo \"${x:-$'\\x24(evil)'}\"",
    "echo \"${x-$'$(evil)'}\"",
    "a['$(evil)']=1",
    "echo ${a['$(evil)']}",
    "a=(['$(evil)']=1)",
    "echo $(( '$(evil)' ))",
    "for ((i='$(evil)';0;)); do :; done",
    "ls >&'$(evil)'",
    "ls >&\"\\$(evil)\"",
    "ls >&\\$\\(evil\\)",
    "echo \"$$(\"'$(evil)'\")\"",
    "echo \"$${\"'$(evil)}'\"}\"",
    "echo \"${x:-\\'$(evil)'}\"",
    "echo \"${x:-$$(\"'$(evil)'\")}\"",
    "ls &>>a['$(evil)']",
    "echo \"$(( ${x/ #/} ))\"'\n$(evil) ))\"'",
    "echo $((evil[$(case x in x) ls;; esac)]))",
    "echo $((evil[`case x in x) ls;; esac`]))",
    // Constructs that Bash prints and parses again.
    "echo $(>&- ! evil)",
    "echo $(>f time evil)",
    "echo $(case x in (esac) ls;; esac; evil)",
    "echo $(cat <<E\nE\nls; evil)",
    // Words that end early.
    ">&-evil",
    "ls; >&-evil x",
    "<&-evil",
    // Here-documents that end early.
    "echo $(cat <<E\nEevil) text\nE\n)",
    "cat <<E\ntext\nE\nevil",
    "cat <<-E\n\t$(evil)\n\tE",
    "cat <<E\n`evil`\nE",
    "cat <<'E'; evil\nE",
    // Braces that produce text that is parsed again.
    "echo {Z..a}evil{Z..a}",
    "x='$(evil)'; echo {$,a}{x@P}",
    "x='$(evil)'; echo ${x@P}",
    // Deeply nested positions.
    "echo ${x[$(evil)]} ",
    "echo ${x:$(evil)}",
    "echo $((x[$(evil)]))",
    "echo \"`echo \\`evil\\``\"",
    "echo ${x//$(evil)/}",
    "echo \"${x:-`evil`}\"",
    "[[ a =~ $(evil) ]]",
    "[[ a == @(b|$(evil)) ]]",
    "[[ a =~ (b|$(evil)) ]]",
    "case a in b|$(evil)) ;; esac",
    "echo <(evil) 2>&1 | cat",
    "((echo); evil)",
    "((echo) | evil)",
    "time evil",
    "if evil; then :; fi",
];

#[test]
fn no_trick_hides_a_command() {
    for text in TRICKS {
        if let Ok(tree) = parse(text) {
            assert!(names(&tree).contains("evil"), "{text:?}: {tree:?}");
        }
    }
}
