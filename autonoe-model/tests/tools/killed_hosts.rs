//! Tests of the run's lock when the host process is killed.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use autonoe_core::agent::Sandbox;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{RunId, SessionSpec, ToolContext};
use autonoe_model::BuiltInOptions;
use serde_json::{Value, json};

use crate::tools::fixture::{Fixture, eventually};

/// Environment variable for the test that plays the host.
const HOST: &str = "AUTONOE_TEST_BASH_HOST";

/// Plays a host whose agent runs a command, if this process was started as one.
async fn play_host() -> bool {
    let Ok(order) = std::env::var(HOST) else {
        return false;
    };
    let order: Value = serde_json::from_str(&order).expect("JSON");
    let text = |name: &str| order[name].as_str().expect("a text");
    let (root, lock) = (Path::new(text("root")), File::create(text("lock")));
    let lock = lock.expect("writable");
    lock.lock().expect("nobody else has it");
    let key = SessionKey {
        run: RunId::new(text("run")),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new(root), Grants::none());
    let mut spec = SessionSpec::new(key, root, gate, Toolbox::new([]));
    spec.lock = Some(Arc::new(lock));
    if order["sandbox"] == false {
        spec.sandbox = Sandbox::Off;
    }
    let tools = BuiltInOptions::default().for_session(&spec).expect("tools");
    let context = ToolContext::new(spec.key.clone());
    let input = json!({"command": text("command"), "timeout": 500_000});
    let _ = Toolbox::new(tools).call("Bash", input, context).await;
    true
}

/// A host during a command with background processes. Dropping it kills the host.
struct Host(Child);

impl Drop for Host {
    fn drop(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

/// Returns the processes of commands, without the host and the supervisors that it forked, which
/// inherit the environment of the host.
fn commands(fixture: &Fixture, host: &Host) -> Vec<u32> {
    let program = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let of_host = program(host.0.id());
    let found = fixture.pids().into_iter();
    found.filter(|pid| program(*pid) != of_host).collect()
}

/// Ends when it is interrupted.
const LISTENING: &str = "sleep 500";

/// Does not end when it is interrupted.
const STUBBORN: &str = "trap '' INT; sleep 500";

fn host(test: &str, fixture: &Fixture, lock: &Path, sandbox: Sandbox, command: &str) -> Host {
    let order = json!({
        "root": fixture.root(), "lock": lock, "run": fixture.context().session.run.as_str(),
        "sandbox": sandbox == Sandbox::Required,
        "command": format!("{}; echo 1 > begun; {command}", fixture.daemon()),
    });
    let host = Command::new(std::env::current_exe().expect("a program"))
        .args(["--exact", test])
        .env(HOST, order.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let host = Host(host);
    let marker = fixture.root().join("begun");
    // The shell, its foreground process, and at least one of the two in the background.
    eventually("the command", || {
        marker.exists() && commands(fixture, &host).len() > 2
    });
    host
}

fn is_locked(path: &Path) -> bool {
    match File::open(path).expect("it is there").try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("{error}"),
    }
}

/// Returns whether the process has `file` open.
fn holds(pid: u32, file: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    let links = open.flatten().map(|entry| fs::read_link(entry.path()));
    links.flatten().any(|link| link == file)
}

fn lock_of(fixture: &Fixture) -> PathBuf {
    let root = fixture.root().canonicalize().expect("it is there");
    root.with_file_name("run.lock")
}

#[tokio::test]
async fn without_a_sandbox_survivors_of_a_killed_host_hold_the_lock() {
    if play_host().await {
        return;
    }
    let fixture = Fixture::new();
    let lock = lock_of(&fixture);
    let test = "tools::killed_hosts::without_a_sandbox_survivors_of_a_killed_host_hold_the_lock";

    drop(host(test, &fixture, &lock, Sandbox::Off, STUBBORN));

    let survivors = fixture.pids();
    let holders = survivors.iter().filter(|pid| holds(**pid, &lock)).count();
    let was_locked = is_locked(&lock);
    eventually("the end of the survivors", || {
        for pid in fixture.pids() {
            let _ = Command::new("kill")
                .args(["-KILL", &pid.to_string()])
                .status();
        }
        fixture.processes() == 0
    });
    assert!(holders > 0, "of {survivors:?} nobody has the lock");
    assert!(was_locked, "somebody else could have begun");
    eventually("the lock to be free", || !is_locked(&lock));
}

#[tokio::test]
async fn without_a_sandbox_an_interruptible_command_and_its_daemons_end_with_the_host() {
    if play_host().await {
        return;
    }
    let fixture = Fixture::new();
    let lock = lock_of(&fixture);
    let name = "without_a_sandbox_an_interruptible_command_and_its_daemons_end_with_the_host";
    let test = format!("tools::killed_hosts::{name}");

    drop(host(&test, &fixture, &lock, Sandbox::Off, LISTENING));

    fixture.eventually_nothing_is_left();
    eventually("the lock to be free", || !is_locked(&lock));
}

#[tokio::test]
async fn a_sandbox_dies_with_its_host_and_never_has_the_lock() {
    if play_host().await {
        return;
    }
    let fixture = Fixture::new();
    let lock = lock_of(&fixture);
    let test = "tools::killed_hosts::a_sandbox_dies_with_its_host_and_never_has_the_lock";

    let host = host(test, &fixture, &lock, Sandbox::Required, STUBBORN);
    // A command with the lock file could write to it, or release the lock.
    let mut holders = commands(&fixture, &host);
    holders.retain(|pid| holds(*pid, &lock));
    let was_locked = is_locked(&lock);
    drop(host);

    assert!(holders.is_empty(), "{holders:?} have the lock");
    assert!(was_locked, "the host has it");
    fixture.eventually_nothing_is_left();
    eventually("the lock to be free", || !is_locked(&lock));
}
