//! Tests of merging the branches of runs into an integration branch.

use std::cell::Cell;
use std::fs;

use autonoe_git_sync::{IntegrationBranch, MergeOutcome, SyncError, SyncRemote};
use autonoe_harness::executor::Verification;

use crate::fixture::{Fixture, commands, git};

const INTEGRATION: &str = "autonoe/night";

fn integration(fixture: &Fixture, host: &str) -> IntegrationBranch {
    let remote = fixture.remote();
    let remote = SyncRemote::new(remote.to_str().expect("plain")).expect("a path");
    let opened = IntegrationBranch::open(&fixture.path(host), remote, INTEGRATION, commands());
    opened.expect("it can be opened")
}

/// Pushes a branch that starts at `base`, with these files.
fn push_branch(fixture: &Fixture, branch: &str, base: &str, files: &[(&str, &str)]) {
    let (folder, remote) = (fixture.path("pushing"), fixture.remote());
    let _ = fs::remove_dir_all(&folder);
    let remote = remote.to_str().expect("plain");
    let clone = ["clone", "--quiet", "--branch", base, remote, "pushing"];
    git(&fixture.path(""), &clone);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
        git(&folder, &["add", "--force", file]);
    }
    git(&folder, &["commit", "--quiet", "-m", "Work"]);
    let target = format!("HEAD:refs/heads/{branch}");
    git(&folder, &["push", "--quiet", "origin", &target]);
}

async fn started(fixture: &Fixture) -> IntegrationBranch {
    let integration = integration(fixture, "merges");
    integration.create("main").await.expect("it is created");
    integration
}

fn show(fixture: &Fixture, path: &str) -> String {
    fixture.on_remote(&["show", &format!("{INTEGRATION}:{path}")])
}

fn tip(fixture: &Fixture) -> String {
    fixture.on_remote(&["rev-parse", INTEGRATION])
}

#[tokio::test]
async fn branch_is_created_once_at_the_base() {
    let fixture = Fixture::new();
    let branch = integration(&fixture, "one");

    let first = branch.create("main").await.expect("it is created");
    fixture.push_foreign_commit("main", "later.txt");
    let second = integration(&fixture, "two").create("main").await;
    let no_base = integration(&fixture, "three");
    let no_base = IntegrationBranch::create(&no_base, "missing").await;

    assert_eq!(second.expect("it is there"), first);
    assert_eq!(tip(&fixture), first);
    // The branch exists, so that its base does not matter.
    assert_eq!(no_base.expect("it is there"), first);
}

#[tokio::test]
async fn missing_base_and_missing_branch_are_reported() {
    let fixture = Fixture::new();
    let branch = integration(&fixture, "one");

    let created = branch.create("missing").await;
    let merged = branch
        .merge("autonoe/night.parser", |_| async {
            Verification::passed("it is right")
        })
        .await;

    assert!(
        matches!(created, Err(SyncError::NoBase { .. })),
        "{created:?}"
    );
    assert!(
        matches!(merged, Err(SyncError::NoBranch { .. })),
        "{merged:?}"
    );
}

#[tokio::test]
async fn work_of_two_branches_is_merged_without_the_files_of_their_runs() {
    let fixture = Fixture::new();
    let branch = started(&fixture).await;
    for task in ["parser", "shell"] {
        let file = format!("{task}.txt");
        let name = format!("{INTEGRATION}.{task}");
        let files = [
            (file.as_str(), "work\n"),
            ("SPEC.md", task),
            (".autonoe/status.json", task),
            (".autonoe-note.md", task),
        ];
        push_branch(&fixture, &name, INTEGRATION, &files);
    }
    // The second branch began before the first was merged.
    for task in ["parser", "shell"] {
        let merged = branch
            .merge(&format!("{INTEGRATION}.{task}"), |folder| async move {
                if folder.join(format!("{task}.txt")).exists() {
                    Verification::passed("it is there")
                } else {
                    Verification::failed("it is not there")
                }
            })
            .await
            .expect("it can be merged");

        let commit = tip(&fixture);
        assert_eq!(merged, MergeOutcome::Merged { commit });
    }

    let files = fixture.on_remote(&["ls-tree", "-r", "--name-only", INTEGRATION]);
    let expected = [".gitignore", "SPEC.md", "a.txt", "parser.txt", "shell.txt"];
    assert_eq!(files.lines().collect::<Vec<_>>(), expected);
    assert_eq!(show(&fixture, "SPEC.md"), "# Shop");
    // A repeated merge changes nothing.
    let before = fixture.names();
    let repeated = branch
        .merge(&format!("{INTEGRATION}.parser"), |_| async {
            Verification::failed("it is not checked again")
        })
        .await;
    let commit = tip(&fixture);
    assert_eq!(
        repeated.expect("it is merged"),
        MergeOutcome::Merged { commit }
    );
    assert_eq!(fixture.names(), before);
    // Nothing of the merges is left on the host.
    let left = fs::read_dir(fixture.path("merges")).expect("readable");
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, [".lock"]);
}

#[tokio::test]
async fn conflict_names_the_file_and_changes_nothing() {
    let fixture = Fixture::new();
    let branch = started(&fixture).await;
    push_branch(
        &fixture,
        "autonoe/night.a",
        INTEGRATION,
        &[("a.txt", "a\n")],
    );
    push_branch(
        &fixture,
        "autonoe/night.b",
        INTEGRATION,
        &[("a.txt", "b\n")],
    );
    let passes = |_| async { Verification::passed("it is right") };
    let first = branch.merge("autonoe/night.a", passes).await;
    assert!(
        matches!(first, Ok(MergeOutcome::Merged { .. })),
        "{first:?}"
    );
    let before = fixture.names();

    let second = branch.merge("autonoe/night.b", passes).await;

    let files = "a.txt".to_owned();
    assert_eq!(second.expect("a result"), MergeOutcome::Conflict { files });
    assert_eq!(fixture.names(), before);
}

#[tokio::test]
async fn failed_checks_change_nothing() {
    let fixture = Fixture::new();
    let branch = started(&fixture).await;
    push_branch(
        &fixture,
        "autonoe/night.a",
        INTEGRATION,
        &[("b.txt", "b\n")],
    );
    let before = fixture.names();

    let merged = branch
        .merge("autonoe/night.a", |_| async {
            Verification::failed("it is wrong")
        })
        .await;

    let verification = Verification::failed("it is wrong");
    assert_eq!(
        merged.expect("a result"),
        MergeOutcome::ChecksFailed { verification }
    );
    assert_eq!(fixture.names(), before);
}

#[tokio::test]
async fn merge_is_checked_again_if_another_host_pushes_first() {
    let fixture = Fixture::new();
    let branch = started(&fixture).await;
    push_branch(
        &fixture,
        "autonoe/night.a",
        INTEGRATION,
        &[("b.txt", "b\n")],
    );
    let checks = Cell::new(0);

    let merged = branch
        .merge("autonoe/night.a", |folder| {
            checks.set(checks.get() + 1);
            if checks.get() == 1 {
                fixture.push_foreign_commit(INTEGRATION, "other.txt");
            }
            let has_other = folder.join("other.txt").exists();
            let is_right = has_other == (checks.get() == 2);
            async move {
                if is_right {
                    Verification::passed("it is right")
                } else {
                    Verification::failed("it is wrong")
                }
            }
        })
        .await;

    assert!(
        matches!(merged, Ok(MergeOutcome::Merged { .. })),
        "{merged:?}"
    );
    assert_eq!(checks.get(), 2);
    assert_eq!(show(&fixture, "b.txt"), "b");
    assert_eq!(show(&fixture, "other.txt"), "theirs");
}

#[tokio::test]
async fn merge_is_repeated_after_a_kill_on_any_host() {
    let fixture = Fixture::new();
    let branch = started(&fixture).await;
    push_branch(
        &fixture,
        "autonoe/night.a",
        INTEGRATION,
        &[("b.txt", "b\n")],
    );
    let before = fixture.names();
    // The checks never end, and the merge is dropped.
    let checking = branch.merge("autonoe/night.a", |_| std::future::pending());
    let dropped = tokio::time::timeout(std::time::Duration::from_secs(5), checking).await;
    assert!(dropped.is_err(), "{dropped:?}");
    assert_eq!(fixture.names(), before);

    for host in ["merges", "other"] {
        let merged = integration(&fixture, host)
            .merge("autonoe/night.a", |_| async {
                Verification::passed("it is right")
            })
            .await;
        assert!(
            matches!(merged, Ok(MergeOutcome::Merged { .. })),
            "{merged:?}"
        );
    }

    assert_eq!(show(&fixture, "b.txt"), "b");
}
