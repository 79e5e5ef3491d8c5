//! Run lock: one run at a time, also after kills.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use autonoe_core::Project;
use autonoe_core::project::{ProjectError, RunLock, RunLockHolder};
use autonoe_testkit::TempProject;
use autonoe_testkit::program::git;
use jiff::Timestamp;

/// Waits until `holds` returns `true`, and fails if it takes too long.
fn eventually(event: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "{event} did not happen"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_second_run_is_refused_with_the_process_and_the_start_of_the_first() {
    let folder = TempProject::new();
    let project = folder.project();
    let started: Timestamp = "2026-01-31T12:00:00.123456789Z".parse().expect("a time");
    let _first = RunLock::acquire(project, started).expect("the lock is free");

    let second = RunLock::acquire(project, Timestamp::now()).expect_err("it is taken");

    let ProjectError::Locked(held) = second else {
        panic!("{second:?}")
    };
    let path = project.run_lock_path();
    assert_eq!(
        held.to_string(),
        format!(
            "{path:?} is held by another run: process {}, since 2026-01-31 12:00:00Z; wait for it \
             or stop it",
            std::process::id()
        )
    );
    let expected = RunLockHolder {
        pid: std::process::id(),
        started_at: started,
    };
    assert_eq!(held.holder, Some(expected));
}

#[test]
fn a_holder_that_has_not_recorded_itself_is_named_by_its_process() {
    let folder = TempProject::new();
    let project = folder.project();
    let _first = RunLock::acquire(project, Timestamp::now()).expect("the lock is free");
    fs::write(project.run_lock_path(), "not json").expect("writable");

    let second = RunLock::acquire(project, Timestamp::now()).expect_err("it is taken");

    let message = second.to_string();
    let expected = format!("is held by process {} (", std::process::id());
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn an_ended_run_clears_the_lock_file() {
    let folder = TempProject::new();
    let project = folder.project();

    drop(RunLock::acquire(project, Timestamp::now()).expect("the lock is free"));

    let left = fs::read_to_string(project.run_lock_path()).expect("readable");
    assert_eq!(left, "");
}

#[test]
fn git_ignores_the_state_of_a_run_and_tracks_the_settings() {
    let folder = TempProject::new();
    let project = folder.project();
    fs::create_dir(project.state_dir()).expect("writable");
    for name in ["agent.json", "coding.md", "status.json", "journal.1.jsonl"] {
        fs::write(project.state_dir().join(name), "{}").expect("writable");
    }

    let _lock = RunLock::acquire(project, Timestamp::now()).expect("the lock is free");

    git(project.root(), &["init", "--quiet"]);
    git(project.root(), &["add", "--all", ".autonoe"]);
    let tracked = git(project.root(), &["ls-files", ".autonoe"]);
    assert_eq!(tracked, ".autonoe/agent.json\n.autonoe/coding.md");
}

#[test]
fn a_git_ignore_of_the_user_is_left_alone() {
    let folder = TempProject::new();
    let project = folder.project();
    fs::create_dir(project.state_dir()).expect("writable");
    let ignored = project.state_dir().join(".gitignore");
    fs::write(&ignored, "*\n").expect("writable");

    let _lock = RunLock::acquire(project, Timestamp::now()).expect("the lock is free");

    assert_eq!(fs::read_to_string(ignored).expect("readable"), "*\n");
}

/// The environment variable that makes this test program hold the lock.
const HOLD: &str = "AUTONOE_TEST_HOLD_LOCK";

/// Runs in another process: acquires the lock, starts an agent that inherits it, and waits.
#[test]
fn child_process_holds_the_lock() {
    let Some(dir) = std::env::var_os(HOLD) else {
        return;
    };
    let project = Project::find(dir.as_ref(), None).expect("it is there");
    let lock = RunLock::acquire(&project, Timestamp::now()).expect("the lock is free");
    let descriptor = lock.descriptor().try_clone().expect("it can be handed on");
    let mut agent = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::from(descriptor))
        .spawn()
        .expect("sleep is there");
    std::fs::write(project.root().join("agent.pid"), agent.id().to_string()).expect("writable");
    agent.wait().expect("ours");
}

fn start_holder(project: &Project) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args([
            "project::lock::child_process_holds_the_lock",
            "--exact",
            "--nocapture",
        ])
        .env(HOLD, project.root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[cfg(target_os = "linux")]
#[test]
fn after_a_kill_the_lock_stays_as_long_as_an_agent_lives_and_not_longer() {
    let folder = TempProject::new();
    let project = folder.project();
    let mut holder = start_holder(project);
    let pid_file = project.root().join("agent.pid");
    eventually("the agent", || {
        std::fs::read_to_string(&pid_file).is_ok_and(|pid| !pid.is_empty())
    });
    let agent = std::fs::read_to_string(&pid_file).expect("readable");

    holder.kill().expect("ours");
    holder.wait().expect("ours");

    let still = RunLock::acquire(project, Timestamp::now());
    let kill = Command::new("kill")
        .args(["-9", &agent])
        .status()
        .expect("kill is there");
    assert!(kill.success());
    let ProjectError::Locked(held) = still.expect_err("the agent lives") else {
        panic!("locked")
    };
    assert_eq!(held.holder.as_ref().map(|it| it.pid), Some(holder.id()));
    let survivors: Vec<String> = held.survivors().iter().map(ToString::to_string).collect();
    assert_eq!(survivors, [format!("process {agent} (sleep)")]);
    let message = held.to_string();
    let expected = format!(
        "is held by process {agent} (sleep), which a killed run left behind (process {},",
        holder.id()
    );
    assert!(message.contains(&expected), "{message}");
    eventually("the end of the lock", || {
        RunLock::acquire(project, Timestamp::now()).is_ok()
    });
}

#[cfg(unix)]
#[test]
fn an_orderly_end_frees_the_lock_although_something_was_left_running() {
    let folder = TempProject::new();
    let project = folder.project();
    let lock = RunLock::acquire(project, Timestamp::now()).expect("the lock is free");
    let descriptor = lock.descriptor().try_clone().expect("it can be handed on");
    let mut server = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::from(descriptor))
        .spawn()
        .expect("there");

    drop(lock);

    let acquired = RunLock::acquire(project, Timestamp::now());
    server.kill().expect("ours");
    server.wait().expect("ours");
    assert!(acquired.is_ok(), "{acquired:?}");
}

#[test]
fn lock_checks_do_not_keep_a_run_from_starting() {
    let dir = tempfile::tempdir().expect("a folder");
    let project = Project::find(dir.path(), None).expect("it is there");
    drop(RunLock::acquire(&project, Timestamp::now()).expect("the lock is free"));
    let is_over = AtomicBool::new(false);

    let acquired = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                RunLock::held(&project).expect("readable");
            }
        });
        let tries = (0..200).map(|_| {
            // As after a kill: otherwise a check of the lock need not touch it.
            fs::write(project.run_lock_path(), "{}").expect("writable");
            RunLock::acquire(&project, Timestamp::now()).is_ok()
        });
        let acquired = tries.filter(|is_ok| *is_ok).count();
        is_over.store(true, Ordering::Relaxed);
        acquired
    });

    assert_eq!(acquired, 200);
}

#[test]
fn a_lock_check_returns_the_holder_and_leaves_no_trace() {
    let dir = tempfile::tempdir().expect("a folder");
    let project = Project::find(dir.path(), None).expect("it is there");

    assert_eq!(RunLock::held(&project).expect("readable"), None);
    assert!(!project.state_dir().exists());

    let lock = RunLock::acquire(&project, Timestamp::now()).expect("the lock is free");
    let held = RunLock::held(&project)
        .expect("readable")
        .expect("it is held");
    assert_eq!(
        held.holder.map(|holder| holder.pid),
        Some(std::process::id())
    );

    drop(lock);
    assert_eq!(RunLock::held(&project).expect("readable"), None);
}
