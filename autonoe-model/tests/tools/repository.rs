//! Tests of commands' access to the workspace's git repository.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::tools::fixture::Fixture;

const IDENTITY: &str = "git -c user.name=Ada -c user.email=ada@example.com";

/// Runs git outside of any sandbox, like a user, and returns its output.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .expect("these tests need git");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Returns a command that tries to write to each place, and prints the successes.
fn attempts(places: &[&str]) -> String {
    let try_all: Vec<_> = places
        .iter()
        .map(|place| {
            format!(
                "(echo x >> {place}) 2>/dev/null && echo wrote {place}; rm -rf {place} 2>/dev/null"
            )
        })
        .collect();
    format!("{}; echo end", try_all.join("\n"))
}

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).expect("writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
}

#[tokio::test]
async fn a_command_commits_and_changes_neither_hooks_nor_configuration() {
    let fixture = Fixture::new();
    let root = fixture.root();
    git(&root, &["init", "--quiet"]);
    executable(&root.join(".git/hooks/pre-commit"), "#!/bin/sh\ntrue\n");
    let config = fixture.text(".git/config");
    fixture.file("a.txt", "one\n");

    let commits = format!(
        "git add a.txt && {IDENTITY} commit --quiet --message=One && git checkout --quiet -b other \
         && git log --format=%s"
    );
    assert_eq!(
        fixture.ok("Bash", json!({"command": commits})).await,
        "One\n"
    );
    let command = [
        attempts(&[
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/hooks/post-checkout",
        ]),
        "mv .git away 2>/dev/null && echo moved; mv .git/hooks away 2>/dev/null && echo moved
         git config core.fsmonitor /tmp/x 2>/dev/null && echo configured
         rm -rf .git/hooks .git/config 2>/dev/null && echo removed"
            .to_owned(),
    ];
    let output = fixture
        .ok("Bash", json!({"command": command.join("\n")}))
        .await;

    assert_eq!(output, "end\n[exit code 1]\n");
    assert_eq!(fixture.text(".git/config"), config);
    assert_eq!(fixture.text(".git/hooks/pre-commit"), "#!/bin/sh\ntrue\n");
    assert!(!root.join(".git/hooks/post-checkout").exists());
    assert_eq!(git(&root, &["log", "--format=%s"]), "One\n");
}

#[tokio::test]
async fn command_cannot_add_repository_configuration() {
    let fixture = Fixture::new();
    let root = fixture.root();
    git(&root, &["init", "--quiet", "--template="]);
    fs::remove_file(root.join(".git/config")).expect("it is there");
    assert!(!root.join(".git/hooks").exists());

    let command = "mkdir -p .git/hooks; (echo x > .git/hooks/pre-commit) 2>/dev/null && echo wrote
                   (echo x > .git/config) 2>/dev/null && echo wrote
                   mkdir elsewhere; echo ../elsewhere > .git/commondir; echo end";
    let output = fixture.ok("Bash", json!({"command": command})).await;

    assert!(output.starts_with("end\n"), "{output}");
    assert!(output.contains(".git/commondir was removed"), "{output}");
    assert!(!root.join(".git/hooks/pre-commit").exists());
    assert_eq!(fixture.text(".git/config"), "");
    assert!(!root.join(".git/commondir").exists());
    assert!(git(&root, &["status"]).contains("No commits yet"));
}

#[tokio::test]
async fn a_link_that_cannot_be_guarded_makes_the_whole_repository_read_only() {
    let fixture = Fixture::new();
    let root = fixture.root();
    git(&root, &["init", "--quiet"]);
    fs::create_dir_all(root.join("tools/hooks")).expect("writable");
    fs::remove_dir_all(root.join(".git/hooks")).expect("it is there");
    fixture.link(".git/hooks", "../tools/hooks");

    let command = attempts(&[".git/hooks", ".git/config", ".git/HEAD"]);
    let output = fixture.ok("Bash", json!({"command": command})).await;

    assert_eq!(output, "end\n");
    assert!(root.join(".git/hooks").is_symlink());
}

#[tokio::test]
async fn submodules_and_worktrees_cannot_be_redirected() {
    let fixture = Fixture::new();
    let (root, other) = (fixture.root(), fixture.neighbour().join("library"));
    fs::create_dir(&other).expect("writable");
    for repository in [&root, &other] {
        git(repository, &["init", "--quiet"]);
        git(
            repository,
            &["commit", "--quiet", "--allow-empty", "--message=One"],
        );
    }
    let library = other.display().to_string();
    git(&root, &["submodule", "--quiet", "add", &library, "library"]);
    git(&root, &["worktree", "add", "--quiet", "--detach", "tree"]);

    let places = [
        ".git/modules/library/config",
        ".git/modules/library/hooks/pre-commit",
        ".git/worktrees/tree/commondir",
    ];
    let output = fixture
        .ok("Bash", json!({"command": attempts(&places)}))
        .await;

    assert_eq!(output, "end\n");
    assert!(git(&root, &["status", "--short"]).contains("library"));
}

#[tokio::test]
async fn a_gitdir_file_cannot_be_changed() {
    let fixture = Fixture::new();
    let (root, main) = (fixture.root(), fixture.neighbour().join("main"));
    fs::create_dir(&main).expect("writable");
    git(&main, &["init", "--quiet"]);
    git(
        &main,
        &["commit", "--quiet", "--allow-empty", "--message=One"],
    );
    let place = root.join("tree").display().to_string();
    git(&main, &["worktree", "add", "--quiet", "--detach", &place]);
    let named = fs::read_to_string(root.join("tree/.git")).expect("there");
    fs::rename(root.join("tree/.git"), root.join(".git")).expect("ours");
    fs::write(
        main.join(".git/worktrees/tree/gitdir"),
        root.join(".git").display().to_string(),
    )
    .expect("writable");

    let command = format!(
        "{}; git log --format=%s",
        attempts(&[".git", &main.join(".git/config").display().to_string()])
    );
    let output = fixture.ok("Bash", json!({"command": command})).await;

    assert_eq!(output, "end\nOne\n");
    assert_eq!(fixture.text(".git"), named);
}
