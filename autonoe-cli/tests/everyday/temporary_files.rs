//! Temporary files of Node.js, Python and Bash.

use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::story::runs;
use crate::build::{Build, on_newer_build};
use crate::everyday::chore::Chore;
use crate::everyday::whole_run::run_chores;

const NODE: &str = r#"node -e "
const fs = require('fs'), os = require('os'), path = require('path');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'app-'));
fs.writeFileSync(path.join(dir, 'a.txt'), 'from node');
console.log(fs.readFileSync(path.join(dir, 'a.txt'), 'utf8'));
""#;

const PYTHON: &str = r#"python3 - <<'EOF'
import os, tempfile
with tempfile.NamedTemporaryFile(mode="w+", suffix=".txt") as f:
    f.write("from python")
    f.flush()
    print(open(f.name).read())
with tempfile.TemporaryDirectory() as d:
    open(os.path.join(d, "b.txt"), "w").write("x")
print("in project:", tempfile.gettempdir().startswith(os.getcwd()))
EOF"#;

const BASH: &str = r#"log=$(mktemp) && python3 -c '
import sys
open(sys.argv[1], "w").write("from bash")
' "$log" && cat "$log""#;

/// Writes and reads temporary files.
pub(crate) fn temporary_files(backend: Backend) -> Chore {
    let bash = match backend {
        // It refuses every command substitution; its `/tmp` is its own.
        Backend::Gemini => BASH.replace("$(mktemp)", "/tmp/output.log"),
        _ => BASH.to_owned(),
    };
    let calls = [
        runs(NODE).showing("from node"),
        runs(PYTHON)
            .showing("from python")
            .showing("in project: False"),
        runs(bash).showing("from bash"),
    ];
    // The base policy does not allow these commands; users of such projects do.
    Chore::new("Temporary files work", calls).settings(json!({"allowCommands": ["mktemp"]}))
}

async fn temporary_files_of_programs_work(build: Build) {
    let backend = Backend::Claude(build.version);
    run_chores(backend, [temporary_files(backend)]);
}

on_newer_build![temporary_files_of_programs_work];
