//! A repository, from its first commit to a rebase.

use crate::backends::backend::Backend;
use crate::backends::run_script::{runs, sets, writes};
use crate::everyday::chore::Chore;
use crate::everyday::findings::Findings;
use crate::everyday::workplace::{Workplace, deliverable_id};

const FIRST_MESSAGE: &str = "Add a README

It says what the project's \"greeting\" is for.

🤖 Generated with [Claude Code](https://claude.com/claude-code)

Co-Authored-By: Claude <noreply@anthropic.com>";

/// Returns the command of the first commit, with its message in a here-document.
fn first_commit(backend: Backend) -> String {
    match backend {
        // Gemini CLI rejects every command substitution.
        Backend::Gemini => {
            format!("git add -A && git commit -F - <<'EOF'\n{FIRST_MESSAGE}\nEOF")
        }
        // The form in which Claude Code writes commit messages.
        _ => format!("git add -A && git commit -m \"$(cat <<'EOF'\n{FIRST_MESSAGE}\nEOF\n)\""),
    }
}

/// Initialises a repository, commits, branches, merges, rebases, stashes and pops.
///
/// It must be the first chore of its run.
pub(crate) fn git_work(backend: Backend) -> Chore {
    let calls = [
        runs("git init -b main").expects_text("Initialized empty Git repository"),
        writes("README.md", "# Greeting\n"),
        writes(".gitignore", "node_modules/\ntarget/\n"),
        runs("git status --short").expects_text("?? README.md"),
        runs(first_commit(backend)).expects_text("Add a README"),
        runs("git checkout -b feature/greeting").expects_text("feature/greeting"),
        writes("greeting.txt", "hello\n"),
        runs("git add greeting.txt && git commit -m \"Add a greeting\""),
        runs(
            "git checkout main && git merge --no-ff feature/greeting -m \"Merge branch 'feature/greeting'\"",
        ),
        runs("git checkout -b topic HEAD~1"),
        writes("notes.txt", "to do\n"),
        runs("git add -A && git commit -m 'Add notes' && git rebase main"),
        // The ledger and the journal change between two commits, as in every run.
        sets(&deliverable_id(0), "blocked"),
        sets(&deliverable_id(0), "pending"),
        runs("echo 'See notes.txt.' >> README.md && git stash && git status --short"),
        runs("git stash list").expects_text("stash@{0}"),
        runs("git stash pop").expects_text("README.md"),
        runs("git diff --stat && git commit -am \"Mention the notes\""),
        runs("git mv notes.txt TODO.md && git commit -m \"Rename the notes\""),
        runs("git checkout main && git merge topic && git branch -d topic feature/greeting"),
        runs("git log --oneline --graph | head -20").expects_text("Rename the notes"),
    ];
    Chore::new("The work is in git", calls)
        .leaves([".git", ".gitignore", "README.md", "TODO.md", "greeting.txt"])
        .check(check)
}

fn check(workplace: &Workplace, findings: &mut Findings) {
    let log = workplace.git(&["log", "--topo-order", "--format=%an <%ae> %s", "main"]);
    let subjects = [
        "Rename the notes",
        "Mention the notes",
        "Add notes",
        "Merge branch 'feature/greeting'",
        "Add a greeting",
        "Add a README",
    ];
    let by_ada = subjects.map(|subject| format!("Ada <ada@example.org> {subject}"));
    findings.same("git log", log, by_ada.join("\n"));
    let first = workplace.git(&["log", "--format=%B", "--grep=Add a README", "main"]);
    findings.same("the first message", first.trim(), FIRST_MESSAGE);
    let merges = workplace.git(&["log", "--merges", "--format=%s", "main"]);
    findings.same("merges", merges.as_str(), "Merge branch 'feature/greeting'");
    let branches = workplace.git(&["branch", "--format=%(refname:short)"]);
    findings.same("branches", branches.as_str(), "main");
    findings.same("stashes", workplace.git(&["stash", "list"]).as_str(), "");
    // The settings of Autonoe belong in the repository, its state does not.
    let settings = [":!.autonoe/agent.json", ":!.autonoe/models.json"];
    let tracked = workplace.git(&["ls-files", "--", settings[0], settings[1]]);
    let files = ".gitignore\nREADME.md\nSPEC.md\nTODO.md\ngreeting.txt";
    findings.same("tracked files", tracked.as_str(), files);
    let changed = workplace.git(&["status", "--short", "--untracked-files=no"]);
    findings.same("uncommitted changes", changed.as_str(), "");
    let readme = workplace.read("README.md");
    findings.same("README.md", readme.as_str(), "# Greeting\nSee notes.txt.\n");
}
