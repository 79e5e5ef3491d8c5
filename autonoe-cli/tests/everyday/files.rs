//! Files that are created, moved, edited, searched and executed, without a repository.

use serde_json::json;

use crate::backends::run_script::{edits, reads, runs, uses, writes};
use crate::everyday::chore::Chore;

const GREET: &str = "function greet(name) {
  return 'hi';
}
module.exports = greet;
";

const NOTES: &str = "cat > docs/notes.md <<'EOF'
# Notes

It's a \"draft\": $HOME stays as it is.
EOF";

const SCRIPT: &str = "#!/bin/sh
echo \"hello from $(basename \"$0\")\"
";

/// Works on files with the file tools and with commands, runs a script, and makes calls in
/// parallel.
pub(crate) fn files() -> Chore {
    let calls = [
        writes("src/greet.js", GREET),
        reads("src/greet.js").expects_text("return 'hi'"),
        edits(
            "src/greet.js",
            "  return 'hi';",
            "  return `hello, ${name}`;",
        ),
        runs("mkdir -p docs src/lib && ls -la src").expects_text("greet.js"),
        runs(NOTES),
        runs("echo 'Second line.' >> docs/notes.md && wc -l docs/notes.md").expects_text("4"),
        runs("cp src/greet.js src/lib/greet.js && mv docs/notes.md docs/NOTES.md"),
        runs("touch src/lib/empty.js"),
        runs("sed -i 's/draft/final/' docs/NOTES.md && sed -n '3p' docs/NOTES.md")
            .expects_text("final"),
        runs("rm src/lib/empty.js && find src -name '*.js' | sort")
            .expects_text("src/lib/greet.js"),
        runs("grep -rn 'hello' src --include='*.js'").expects_text("src/greet.js:2"),
        writes("scripts/hello.sh", SCRIPT),
        runs("chmod +x scripts/hello.sh && ./scripts/hello.sh").expects_text("hello from hello.sh"),
    ];
    Chore::new("The files are in place", calls)
        .at_once([
            reads("src/greet.js").expects_text("hello"),
            reads("docs/NOTES.md").expects_text("Second line."),
            runs("ls scripts").expects_text("hello.sh"),
            writes("parallel.txt", "written beside others\n"),
        ])
        .flag("--allow-destructive")
        .leaves(["docs", "parallel.txt", "scripts", "src"])
        .check(|workplace, findings| {
            let greet = GREET.replace("'hi'", "`hello, ${name}`");
            findings.same("the edited file", workplace.read("src/greet.js"), &*greet);
            let copied = workplace.read("src/lib/greet.js");
            findings.same("the copied file", copied, &*greet);
            let notes = "# Notes\n\nIt's a \"final\": $HOME stays as it is.\nSecond line.\n";
            findings.same("the moved file", workplace.read("docs/NOTES.md"), notes);
            findings.same("the old name", workplace.exists("docs/notes.md"), false);
            let removed = workplace.exists("src/lib/empty.js");
            findings.same("the removed file", removed, false);
            let parallel = workplace.read("parallel.txt");
            findings.same("the parallel call", parallel, "written beside others\n");
        })
}

/// Finds files with tools that only Claude Code has.
pub(crate) fn claude_tools() -> Chore {
    let calls = [
        uses("Glob", json!({"pattern": "src/**/*.js"})).expects_text("src/lib/greet.js"),
        uses(
            "Grep",
            json!({"pattern": "hello", "path": "src", "output_mode": "content"}),
        )
        .expects_text("hello, ${name}"),
    ];
    Chore::new("The files can be found", calls)
}
