//! Tests of hosts that are killed at each step, and others that resume the run.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autonoe_core::time::Epoch;
use autonoe_process::ProcessRunner;

use crate::fixture::{Fixture, Host, PATH, open, recorded};

/// Makes this program a host, with this home folder.
const HOME: &str = "AUTONOE_TRAVEL_HOME";
const REMOTE: &str = "AUTONOE_TRAVEL_REMOTE";
const PROGRAMS: &str = "AUTONOE_TRAVEL_PROGRAMS";
const NUMBER: &str = "AUTONOE_TRAVEL_NUMBER";
const EPOCH: &str = "AUTONOE_TRAVEL_EPOCH";
const KILL: &str = "AUTONOE_TRAVEL_KILL";
/// Number of kills, set by the torture command.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";
const THIS: &str = "killed::another_host_continues_after_a_kill";

/// Counts the runs of git, and kills the host before or after the given one.
const KILLING_GIT: &str = r#"#!/bin/sh
count=$(cat "$COUNT" 2>/dev/null || echo 0)
count=$((count + 1))
echo $count >"$COUNT"
[ "$KILL" = "before $count" ] && kill -9 "$HOST"
/usr/bin/env -u COUNT -u KILL -u HOST PATH="$REAL" git "$@"
code=$?
[ "$KILL" = "after $count" ] && kill -9 "$HOST"
exit $code
"#;

#[tokio::test]
async fn another_host_continues_after_a_kill() {
    if env::var_os(HOME).is_some() {
        be_a_host().await;
        return;
    }
    let rounds = env::var(ROUNDS).ok().and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(8_u32);
    let fixture = Fixture::new();
    let base = fixture.on_remote(&["rev-parse", "main"]);
    killing_git(&fixture);
    let (mut number, mut epoch, mut killed) = (1, 0, 0);
    for round in 0..rounds {
        let home = ["one", "two"][(round / 2 % 2) as usize];
        // The rounds cover each step of a host in turn; there are some hundred.
        let when = ["before", "after"][(round % 2) as usize];
        let kill = format!("{when} {}", 1 + round * 29 % 131);

        let reported = host(&fixture, home, (number, epoch), &kill);

        killed += u32::from(reported.is_none());
        epoch += 1;
        number += u32::from(reported.is_some());
        assert_eq!(fixture.on_remote(&["rev-parse", "main"]), base, "{kill}");
        fixture.on_remote(&["fsck", "--strict", "--no-dangling"]);
    }
    let reported = host(&fixture, "three", (number, epoch), "never");
    assert_eq!(reported, Some(number));

    let last = Host::on(open(
        &fixture.path("four"),
        &fixture.remote(),
        crate::fixture::commands(),
    ));
    last.claim().await;
    let all: Vec<u32> = (1..=number).collect();
    assert_eq!(recorded(&last), all, "each session counts once");
    for number in all {
        assert_eq!(last.read(&format!("session-{number}.txt")), "worked\n");
    }
    assert!(killed > rounds / 3, "{killed} of {rounds}");
    assert!(number > 1);
}

/// Installs the killing git into the fixture.
fn killing_git(fixture: &Fixture) {
    let programs = fixture.path("programs");
    fs::create_dir(&programs).expect("a folder");
    let program = programs.join("git");
    fs::write(&program, KILLING_GIT).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
}

/// Lets a host execute a session, and returns its number if its outcome was reported.
fn host(fixture: &Fixture, home: &str, (number, epoch): (u32, u64), kill: &str) -> Option<u32> {
    let count = fixture.path("programs/count");
    let _ = fs::remove_file(&count);
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args([THIS, "--exact", "--nocapture"])
        .env(HOME, fixture.path(home))
        .env(REMOTE, fixture.remote())
        .env(PROGRAMS, fixture.path("programs"))
        .env(NUMBER, number.to_string())
        .env(EPOCH, epoch.to_string())
        .env(KILL, kill)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("this program");
    let output = child.stdout.take().expect("a pipe");
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let mut reported = None;
    for line in lines {
        if let Some((_, number)) = line.split_once("reported ") {
            reported = number.parse().ok();
        }
    }
    let ended = child.wait().expect("it ended");
    assert!(ended.success() || reported.is_none(), "{kill}: {ended:?}");
    let was_killed = std::os::unix::process::ExitStatusExt::signal(&ended) == Some(9);
    assert!(
        reported.is_some() || was_killed,
        "{kill} on {home}: {ended:?}"
    );
    reported
}

/// Claims the run, executes one session, and reports its outcome.
async fn be_a_host() {
    let variable = |name: &str| env::var(name).expect("who sets one variable sets all");
    let programs = PathBuf::from(variable(PROGRAMS));
    let path = format!("{}:{PATH}", programs.display());
    let commands = ProcessRunner::unconfined("/")
        .env("PATH", path)
        .env("REAL", PATH)
        .env("COUNT", programs.join("count"))
        .env("KILL", variable(KILL))
        .env("HOST", std::process::id().to_string());
    let host = Host::on(open(
        Path::new(&variable(HOME)),
        Path::new(&variable(REMOTE)),
        commands,
    ));
    let number: u32 = variable(NUMBER).parse().expect("a number");
    let last: u64 = variable(EPOCH).parse().expect("a number");
    // Like an engine that knows the epochs that it has assigned.
    let epoch = host.claim().await.max(Epoch(last + 1));
    let outcome = host.attach(number, epoch).await.expect("it runs");
    assert!(outcome.result.end.is_completed());
    let mut out = std::io::stdout().lock();
    writeln!(out, "reported {number}")
        .and_then(|()| out.flush())
        .expect("somebody listens");
}
