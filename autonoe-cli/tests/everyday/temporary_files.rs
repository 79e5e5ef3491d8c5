//! Temporary files of Node.js, Python and Bash.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use autonoe_process::SessionParent;
use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::run_script::{edits, reads, runs, writes};
use crate::everyday::chore::Chore;

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
        // Gemini CLI rejects every command substitution. Its `/tmp` is private.
        Backend::Gemini => BASH.replace("$(mktemp)", "/tmp/output.log"),
        _ => BASH.to_owned(),
    };
    let calls = [
        runs(NODE).expects_text("from node"),
        runs(PYTHON)
            .expects_text("from python")
            .expects_text("in project: False"),
        runs(bash).expects_text("from bash"),
    ];
    // The base policy does not allow these commands, but users of such projects do.
    Chore::new("Temporary files work", calls).settings(json!({"allowCommands": ["mktemp"]}))
}

/// Attacks the folder of the session and another one, with a program that builds the paths itself,
/// so that no guard sees them. It prints every success, and fails if there is one.
///
/// It does not touch other session folders, which may be in use on this machine.
const ATTACK: &str = r#"
import glob, os, sys
done = []
def attempt(name, action):
    try:
        action()
        done.append(name)
    except OSError:
        pass
state = "/tmp/%s-%d/.%s" % ("auto" + "noe", os.getuid(), "auto" + "noe")
temporary = os.environ["TMPDIR"]
own = next(name for name in temporary.split("/") if name.startswith("auto" + "noe-claude-"))
sessions = [os.path.join(state, own)]
sessions += glob.glob(os.path.join(state, "everyday-*"))
for session in sessions:
    if not os.path.isdir(session):
        done.append(session + " is not there")
    attempt("create beside", lambda: open(session + ".evil", "w").close())
    attempt("move", lambda: os.rename(session, session + ".old"))
    attempt("move to TMPDIR", lambda: os.rename(session, os.path.join(temporary, "moved")))
    for name in ["bash-setup.sh", "git-excludes", "system-prompt.md", "new"]:
        path = os.path.join(session, name)
        attempt("append to " + path, lambda: open(path, "a").write("evil"))
        attempt("remove " + path, lambda: os.remove(path))
    link = os.path.join(temporary, "link")
    os.symlink(session, link)
    attempt("write through a link", lambda: open(link + "/evil", "w").close())
    os.remove(link)
print(len(sessions) > 1, done or "nothing done")
sys.exit(1 if done else 0)
"#;

/// Returns a path in `/tmp` that only this test uses.
fn in_tmp(name: &str) -> String {
    format!("/tmp/everyday-{}-{name}", std::process::id())
}

/// Writes to `/tmp` with file tools and commands, and reads back the files that both can see.
pub(crate) fn shared_tmp(backend: Backend) -> Chore {
    let [tool, redirect, tee] = ["tool.txt", "redirect.txt", "tee.txt"].map(in_tmp);
    let written = writes(tool.clone(), "from the tool\n");
    let redirected = runs(format!("echo from bash > {redirect} && cat {redirect}"));
    let copied = runs(format!(
        "echo x | tee {tee} && cp {tee} {tee}.copy && sed -i s/x/y/ {tee}.copy && cat {tee}.copy"
    ));
    let mut calls = vec![
        redirected.expects_text("from bash"),
        copied.expects_text("y"),
    ];
    calls.extend(match backend {
        Backend::Model(_) => vec![
            written.failing().expects_text("/tmp is for commands"),
            // Each command has an empty `/tmp`.
            runs(format!("cat {redirect} || echo gone")).expects_text("gone"),
        ],
        // The file tools of Gemini CLI can access only the workspace.
        Backend::Gemini => vec![runs(format!("cat {redirect}")).expects_text("from bash")],
        _ => vec![
            written,
            runs(format!("cat {tool}")).expects_text("from the tool"),
            runs(format!("cat {redirect}")).expects_text("from bash"),
        ],
    });
    if matches!(backend, Backend::Claude(_)) {
        calls.extend([
            reads(&tool).expects_text("from the tool"),
            edits(&tool, "from the tool", "edited"),
            runs(format!("cat {tool}")).expects_text("edited"),
        ]);
    }
    Chore::new("Files in /tmp work", calls).check(move |_, findings| {
        // Only Claude Code has the `/tmp` of this machine.
        let is_real = matches!(backend, Backend::Claude(_));
        for path in [&tool, &redirect, &tee, &format!("{tee}.copy")] {
            findings.same(path, Path::new(path).exists(), is_real);
            let _ = fs::remove_file(path);
        }
    })
}

/// Tries to change the folders of this and of another session with file tools, commands and a
/// program.
pub(crate) fn session_folders(backend: Backend) -> Chore {
    let parent = SessionParent::open(Path::new("/tmp")).expect("it can be made");
    // The folder of another session, which is not in use.
    let name = format!("everyday-{}", std::process::id());
    let other = parent.sessions().join(name);
    fs::create_dir(&other).expect("writable");
    let script = other.join("bash-setup.sh").display().to_string();
    fs::write(&script, "original\n").expect("writable");
    let link = in_tmp("link");
    symlink(&other, &link).expect("writable");
    let top = parent.path().display().to_string();

    let mut calls = vec![
        runs(format!("echo evil > {script}")).denied(),
        runs(format!("echo evil >> {link}/bash-setup.sh")).denied(),
        runs(format!("cp SPEC.md {script}")).denied(),
        runs(format!("cp SPEC.md {link}/bash-setup.sh")).denied(),
        runs(format!("echo evil | tee {script}")).denied(),
        runs(format!("sed -i s/original/evil/ {script}")).denied(),
        runs(format!("sed -i s/original/evil/ {link}/bash-setup.sh")).denied(),
        runs(format!("mkdir -p {top}/evil")).denied(),
    ];
    if matches!(backend, Backend::Claude(_)) {
        calls.extend([
            // Claude Code writes and edits only files that it has read.
            reads(&script).expects_text("original"),
            writes(script.clone(), "evil\n").denied(),
            edits(&script, "original", "evil").denied(),
            writes(format!("{link}/new.sh"), "evil\n").denied(),
            writes(format!("{top}/evil"), "evil\n").denied(),
            writes("attack.py", ATTACK),
            runs("python3 attack.py").expects_text("True nothing done"),
        ]);
    }
    let leaves = matches!(backend, Backend::Claude(_)).then_some("attack.py");
    Chore::new("Folders of sessions are protected", calls)
        .leaves(leaves)
        .check(move |_, findings| {
            let text = fs::read_to_string(&script).unwrap_or_default();
            findings.same("the script of another session", text.as_str(), "original\n");
            findings.same("evil", Path::new(&top).join("evil").exists(), false);
            let _ = fs::remove_dir_all(&other);
            let _ = fs::remove_file(&link);
        })
}
