//! A life in a process of its own, which is killed.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use autonoe_core::Project;

/// What a process is told that is to live and be killed: for which test, where, and how far.
const TEST: &str = "AUTONOE_TESTKIT_CRASH_TEST";
const PROJECT: &str = "AUTONOE_TESTKIT_CRASH_PROJECT";
const LINE: &str = "AUTONOE_TESTKIT_CRASH_LINE";

/// What a process says when it stands still.
const STANDS_STILL: &str = "autonoe-testkit: the last line is written";

/// How long a process may take to get to its line.
const LIMIT: Duration = Duration::from_secs(60);

/// What this process is to do if it was started to be killed.
pub(super) struct Orders {
    pub(super) project: Project,
    pub(super) line: usize,
}

/// Returns what this process is to do if it was started to be killed in `test`.
pub(super) fn orders(test: &str) -> Option<Orders> {
    if env::var(TEST).ok()? != test {
        return None;
    }
    let project = env::var_os(PROJECT).expect("who sets one variable sets all");
    let line = env::var(LINE).expect("who sets one variable sets all");
    Some(Orders {
        project: Project::find(project.as_ref(), None).expect("the project is there"),
        line: line.parse().expect("it is a number"),
    })
}

/// Says that the line is reached, and does nothing any more.
pub(super) fn stand_still() {
    let mut out = io::stdout().lock();
    let said = writeln!(out, "{STANDS_STILL}").and_then(|()| out.flush());
    if said.is_ok() {
        // Ends only when whoever was to kill this process is gone itself.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    }
    std::process::abort();
}

/// Checks that this program has a test of the name `test`.
pub(super) fn find_test(test: &str) -> Result<(), String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let listed = Command::new(program)
        .args([test, "--exact", "--list"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let entry = format!("{test}: test");
    if listed.lines().any(|line| line == entry) {
        return Ok(());
    }
    Err(format!(
        "no such test: {test:?}; give the full name of the test that calls this, such as \
         \"module::name_of_the_test\""
    ))
}

/// Starts this program again for `test` alone, and kills it when it has written the line.
pub(super) fn run_and_kill(test: &str, orders: &Orders) -> Result<(), String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let child = Command::new(program)
        .args([test, "--exact"])
        .env(TEST, test)
        .env(PROJECT, orders.project.root())
        .env(LINE, orders.line.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = Killed(child.map_err(|error| error.to_string())?);
    let Some(output) = child.0.stdout.take() else {
        return Err("it has no output".to_owned());
    };
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(wait_for_standstill(output)));
    match told.recv_timeout(LIMIT) {
        Ok(reached) => reached?,
        Err(_) => return Err(format!("it did not write the line in {LIMIT:?}")),
    }
    child.kill()
}

/// Reads what a process says until it stands still; an error is all that it said instead.
fn wait_for_standstill(output: ChildStdout) -> Result<(), String> {
    let mut said = String::new();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        // The test program may have begun the line.
        if line.ends_with(STANDS_STILL) {
            return Ok(());
        }
        said.push_str(&line);
        said.push('\n');
    }
    Err(format!("it ended without writing the line:\n{said}"))
}

/// A process that does not outlive whoever started it.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) -> Result<(), String> {
        match self.0.kill().and_then(|()| self.0.wait()) {
            Ok(status) if was_killed(status) => Ok(()),
            Ok(status) => Err(format!("it ended of itself: {status}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    const SIGKILL: i32 = 9;
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(SIGKILL)
}

#[cfg(not(unix))]
fn was_killed(status: ExitStatus) -> bool {
    !status.success()
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
