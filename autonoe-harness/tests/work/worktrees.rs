//! Tests of work in worktrees, with a real git and in real time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use autonoe_core::engine::RunEnding;
use autonoe_harness::Worktrees;
use autonoe_harness::isolation::Author;
use autonoe_harness::recovery::{Exploration, Ladder};
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{Isolation, WhenDone, WorkEvent, WorkOrder};
use autonoe_process::ProcessRunner;
use autonoe_testkit::SessionScript;

use crate::work::fixture::{Fixture, Turns, task};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Turns the folder of a fixture into a repository, and its loop into one with worktrees.
async fn isolated(mut fixture: Fixture) -> (Fixture, PathBuf) {
    let repo = fixture.folder.path().canonicalize().expect("a path");
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(repo.join("a.txt"), "one\n").expect("a file");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "-m", "first"]);
    let commands = ProcessRunner::unconfined("/").env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let trees = repo.join(".harness/worktrees");
    let trees = Worktrees::open(&repo, &trees, "fleet", commands).await;
    fixture.work = fixture
        .work
        .worktrees(trees.expect("a repository"))
        .author(Author::new("Agent", "agent@example.org"));
    (fixture, repo)
}

fn order(when_done: WhenDone) -> WorkOrder {
    let isolation = Isolation::Worktree {
        name: "one".to_owned(),
        base: None,
        when_done,
    };
    let mut order = WorkOrder::new([task("T-1")], isolation);
    // Turns take no time here.
    order.thresholds.hasty_iterations = 0;
    order
}

fn writes(file: &'static str) -> SessionScript {
    SessionScript::new("turn")
        .performs(move |folder| fs::write(folder.join(file), "new\n").expect("a file"))
        .says(format!("I have written {file}."))
        .ends()
}

fn text_turn(text: &str) -> SessionScript {
    SessionScript::new("turn").says(text).ends()
}

fn branches(repo: &Path) -> Vec<String> {
    let list = git(
        repo,
        &["for-each-ref", "--format=%(refname:short)", "refs/heads"],
    );
    list.lines().map(str::to_owned).collect()
}

/// Returns the reported working directories, without repetitions.
fn working_dirs(fixture: &Fixture) -> Vec<PathBuf> {
    let reports = fixture.reports.lock().expect("a lock");
    let reported = reports.iter().map(|it| it.working_dir.clone());
    let mut folders: Vec<_> = reported.map(|it| it.expect("it is reported")).collect();
    folders.dedup();
    folders
}

// Shows: fleets/handle/working-dir
#[tokio::test]
async fn the_working_directory_is_the_folder_of_the_task() {
    let turns = Turns::new([writes("out.txt")]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;
    fs::create_dir(repo.join("sub")).expect("a folder");
    fs::write(repo.join("sub/b.txt"), "two\n").expect("a file");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "-m", "second"]);
    let mut order = order(WhenDone::Keep);
    order.tasks[0].task.cwd = Some("sub".into());

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    let own = repo.join(".harness/worktrees/fleet/one");
    assert_eq!(working_dirs(&fixture), [own.join("sub"), own]);
}

#[tokio::test]
async fn work_that_is_kept_is_on_its_branch_and_nowhere_else() {
    let turns = Turns::new([writes("out.txt")]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;

    let (outcome, result) = fixture.run(&order(WhenDone::Keep)).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert!(!repo.join("out.txt").exists());
    assert_eq!(result.unmerged_work.len(), 1);
    assert_eq!(result.unmerged_work[0].branch, "autonoe/fleet/one");
    assert_eq!(git(&repo, &["show", "autonoe/fleet/one:out.txt"]), "new");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_worktree_with_another_base_is_not_reused() {
    let turns = Turns::new([writes("out.txt")]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;
    git(&repo, &["branch", "release"]);
    fixture.run(&order(WhenDone::Keep)).await;
    let mut other = order(WhenDone::Merge);
    if let Isolation::Worktree { base, .. } = &mut other.isolation {
        *base = Some("release".to_owned());
    }

    let other = serde_json::to_value(&other).expect("it serialises");
    let outcome = fixture.run_raw(other).await;

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, "not_isolated");
    // The output has the same format, however far the run came.
    let result: MemberReport = serde_json::from_value(outcome.output).expect("a result");
    assert_eq!(result.error.as_deref(), Some(failure.message.as_str()));
    assert_eq!(git(&repo, &["show", "autonoe/fleet/one:out.txt"]), "new");
}

#[tokio::test]
async fn work_that_is_done_is_merged_and_nothing_is_left() {
    let turns = Turns::new([writes("out.txt")]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;

    let (outcome, result) = fixture.run(&order(WhenDone::Merge)).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert!(result.unmerged_work.is_empty(), "{result:?}");
    assert_eq!(
        fs::read_to_string(repo.join("out.txt")).expect("a file"),
        "new\n"
    );
    assert_eq!(branches(&repo), ["main"]);
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn failed_work_is_kept_and_its_location_reported() {
    let turns = Turns::new([writes("half.txt")]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;
    let mut order = order(WhenDone::Merge);
    order.max_iterations = 1;

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    assert_eq!(result.unmerged_work[0].branch, "autonoe/fleet/one");
    assert_eq!(git(&repo, &["show", "autonoe/fleet/one:half.txt"]), "new");
    assert!(!repo.join("half.txt").exists());
}

// Shows: fleets/handle/working-dir
#[tokio::test]
async fn the_first_exploration_that_passes_is_merged_and_the_others_are_kept() {
    let turns = Turns::new([
        writes("before.txt"),
        text_turn("Same."),
        text_turn("Same."),
        text_turn("Same."),
        // The first exploration has two turns, the second one.
        writes("wrong.txt"),
        writes("wrong-too.txt"),
        writes("out.txt"),
    ]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;
    let mut order = order(WhenDone::Merge);
    let mut ways = Exploration::default();
    ways.iterations = 2;
    order.ladder = Ladder::none().then(ways);

    let (outcome, result) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    let trees = repo.join(".harness/worktrees/fleet");
    let expected = ["one", "one.T-1.way-1", "one.T-1.way-2", "one"].map(|name| trees.join(name));
    assert_eq!(working_dirs(&fixture), expected);
    for (file, is_merged) in [
        ("before.txt", true),
        ("out.txt", true),
        ("wrong.txt", false),
    ] {
        assert_eq!(repo.join(file).exists(), is_merged, "{file}");
    }
    let unmerged = "autonoe/fleet/one.T-1.way-1";
    assert_eq!(branches(&repo), [unmerged, "main"]);
    assert_eq!(
        git(&repo, &["show", &format!("{unmerged}:wrong-too.txt")]),
        "new"
    );
    assert_eq!(result.unmerged_work.len(), 1);
    assert_eq!(result.unmerged_work[0].branch, unmerged);
    let explored = fixture
        .events()
        .into_iter()
        .filter_map(|event| match event {
            WorkEvent::Explored { branch, merged, .. } => Some((branch, merged)),
            _ => None,
        });
    let explored: Vec<_> = explored.collect();
    let second = "autonoe/fleet/one.T-1.way-2";
    assert_eq!(
        explored,
        [(unmerged.to_owned(), false), (second.to_owned(), true)]
    );
    git(&repo, &["fsck", "--strict", "--no-dangling"]);
}

#[tokio::test]
async fn failed_explorations_are_all_kept() {
    let turns = Turns::new([
        text_turn("Same."),
        text_turn("Same."),
        text_turn("Same."),
        writes("first.txt"),
        text_turn("I change nothing."),
        writes("third.txt"),
    ]);
    let (fixture, repo) = isolated(Fixture::new(&turns)).await;
    let mut order = order(WhenDone::Merge);
    let mut ways = Exploration::default();
    ways.iterations = 1;
    order.ladder = Ladder::none().then(ways);

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    let (one, first, third) = (
        "autonoe/fleet/one",
        "autonoe/fleet/one.T-1.way-1",
        "autonoe/fleet/one.T-1.way-3",
    );
    // The second has no work to keep.
    assert_eq!(branches(&repo), [one, first, third, "main"]);
    let unmerged: Vec<_> = result
        .unmerged_work
        .iter()
        .map(|place| place.branch.as_str())
        .collect();
    assert_eq!(unmerged, [first, third, one]);
    let error = result.error.expect("it failed");
    assert!(error.contains(first) && error.contains(third), "{error}");
}
