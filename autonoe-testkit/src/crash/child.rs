//! Runs an attempt in a child process and kills it.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use autonoe_core::Project;

/// Environment variables of a process that is to be killed: the test, the project and the line.
const TEST: &str = "AUTONOE_TESTKIT_CRASH_TEST";
const PROJECT: &str = "AUTONOE_TESTKIT_CRASH_PROJECT";
const LINE: &str = "AUTONOE_TESTKIT_CRASH_LINE";

/// Printed by a process that has stopped.
const STOPPED_MARKER: &str = "autonoe-testkit: the last line is written";

/// The time limit for a process to reach its line.
const LIMIT: Duration = Duration::from_secs(60);

/// Parameters of a process that is to be killed.
pub(super) struct ChildParams {
    pub(super) project: Project,
    pub(super) line: usize,
}

/// Returns the parameters of this process if it was started to be killed in `test`.
pub(super) fn child_params(test: &str) -> Option<ChildParams> {
    if env::var(TEST).ok()? != test {
        return None;
    }
    let project = env::var_os(PROJECT).expect("the parent sets all variables");
    let line = env::var(LINE).expect("the parent sets all variables");
    Some(ChildParams {
        project: Project::find(project.as_ref(), None).expect("the project is there"),
        line: line.parse().expect("it is a number"),
    })
}

/// Prints that the line is reached, and blocks.
pub(super) fn block_forever() {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{STOPPED_MARKER}").and_then(|()| out.flush());
    if written.is_ok() {
        // Returns only when the parent process is gone.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    }
    std::process::abort();
}

/// Checks that this program has a test named `test`.
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
pub(super) fn run_and_kill(test: &str, orders: &ChildParams) -> Result<(), String> {
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
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(wait_for_standstill(output)));
    match receiver.recv_timeout(LIMIT) {
        Ok(reached) => reached?,
        Err(_) => return Err(format!("it did not write the line in {LIMIT:?}")),
    }
    child.kill()
}

/// Reads the output of a process until it stops; the error is the complete output.
fn wait_for_standstill(output: ChildStdout) -> Result<(), String> {
    let mut printed = String::new();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        // The test harness may have printed text at the start of the line.
        if line.ends_with(STOPPED_MARKER) {
            return Ok(());
        }
        printed.push_str(&line);
        printed.push('\n');
    }
    Err(format!("it ended without writing the line:\n{printed}"))
}

/// A child process that is killed on drop.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) -> Result<(), String> {
        match self.0.kill().and_then(|()| self.0.wait()) {
            Ok(status) if was_killed(status) => Ok(()),
            Ok(status) => Err(format!("it ended by itself: {status}")),
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
