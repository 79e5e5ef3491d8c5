//! Fixture of the tests: a folder, a marker, and waiting with a deadline.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use autonoe_process::{
    Launch, Marker, ShutdownAction, ShutdownPolicy, Signal, Stdin, Stdout, find_program,
};
use rustix::process::{Pid, Signal as System, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};

/// Far longer than any step takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Long enough for a step of a policy that is expected to have no effect.
pub(crate) const SHORT_WAIT: Duration = Duration::from_millis(50);

const MARKER: &str = "AUTONOE_PROCESS_TEST";
pub(crate) const HOST_MARKER: &str = "AUTONOE_PROCESS_HOST_MARKER";
const HOST_FOLDER: &str = "AUTONOE_PROCESS_HOST_FOLDER";

/// One test: its marker, and a folder that children work in.
pub(crate) struct Fixture {
    pub(crate) marker: Marker,
    folder: PathBuf,
    /// `None` in a host, which works in the folder of the test that started it.
    owned: Option<TempDir>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let owned = tempfile::tempdir().expect("a folder");
        // The random name of the folder distinguishes this run of the tests from others.
        let value = format!("{}-{number}", owned.path().display());
        Self {
            marker: Marker::new(MARKER, value).expect("valid"),
            folder: owned.path().to_owned(),
            owned: Some(owned),
        }
    }

    /// In a process that [`start_host`](Self::start_host) started, returns its fixture.
    pub(crate) fn as_host() -> Option<Self> {
        let value = std::env::var(HOST_MARKER).ok()?;
        let folder = std::env::var_os(HOST_FOLDER)?;
        Some(Self {
            marker: Marker::new(MARKER, value).expect("valid"),
            folder: folder.into(),
            owned: None,
        })
    }

    /// Starts this program again, to execute only `test` as the host.
    pub(crate) fn start_host(&self, test: &str) -> Host {
        self.start_host_with(&[], test)
    }

    /// Does the same, started by the command `before`.
    pub(crate) fn start_host_with(&self, before: &[&str], test: &str) -> Host {
        let log = File::create(self.path("host.log")).expect("writable");
        let own = std::env::current_exe().expect("this program");
        let mut words = before.iter().map(OsStr::new).chain([own.as_os_str()]);
        let process = Command::new(words.next().expect("at least one"))
            .args(words)
            .args([test, "--exact", "--nocapture"])
            .env(HOST_MARKER, self.marker.value())
            .env(HOST_FOLDER, &self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("open"))
            .stderr(log)
            .spawn()
            .expect("it starts");
        Host {
            process,
            log: self.path("host.log"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Launches Bash with `script`, and with `PATH` as the only variable.
    pub(crate) fn bash(&self, script: &str) -> Launch {
        let path = std::env::var_os("PATH").expect("set");
        let bash = find_program("bash", &path).expect("Bash is there");
        Launch::new(bash, &self.folder, self.marker.clone())
            .args(["-c", script])
            .env("PATH", path)
    }

    /// Waits until a script or a host has written the file `name`, and returns its text.
    pub(crate) fn wait_for_file(&self, name: &str) -> String {
        let path = self.path(name);
        let read = || {
            fs::read_to_string(&path)
                .ok()
                .filter(|text| text.ends_with('\n'))
        };
        eventually(&format!("the file {name}"), || read().is_some());
        read().expect("it was there").trim().to_owned()
    }

    /// Returns the running processes whose working directory is the folder.
    pub(crate) fn processes(&self) -> Vec<FolderProcess> {
        let folder = self.folder.canonicalize().expect("it is there");
        let processes = fs::read_dir("/proc").expect("Linux").flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let works_here = |pid: &u32| {
            let directory = fs::read_link(format!("/proc/{pid}/cwd"));
            directory.is_ok_and(|directory| directory == folder) && is_alive(*pid)
        };
        let process = |pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let name = name.trim().to_owned();
            FolderProcess { pid, name }
        };
        numbers.filter(works_here).map(process).collect()
    }

    /// Waits until no process of the test is alive.
    pub(crate) fn eventually_nothing_is_left(&self) {
        eventually("the end of the last process", || {
            self.marker.processes().is_empty()
        });
    }

    /// Asserts that no process of the test is alive.
    pub(crate) fn assert_nothing_is_left(&self) {
        assert_eq!(self.marker.processes(), []);
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // A failed test leaves nothing behind either.
        if self.owned.is_some() {
            self.marker.kill_all(DEADLINE);
            for process in self.processes() {
                let pid = Pid::from_raw(process.pid.cast_signed()).expect("a number");
                let _ = kill_process(pid, System::KILL);
            }
        }
    }
}

/// A process whose working directory is the folder of a test.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FolderProcess {
    pub(crate) pid: u32,
    pub(crate) name: String,
}

/// This program as a host in a process of its own. Dropping it kills the process.
pub(crate) struct Host {
    process: Child,
    log: PathBuf,
}

impl Host {
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("ours");
        self.process.wait().expect("ours");
    }

    /// Waits until it exits, and returns its output, as an error if it has failed.
    pub(crate) fn end(&mut self) -> Result<String, String> {
        eventually("the end of the host", || {
            self.process.try_wait().expect("ours").is_some()
        });
        let log = fs::read_to_string(&self.log).expect("readable");
        let passed = self.process.wait().expect("ours").success();
        if passed { Ok(log) } else { Err(log) }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until `is_so`, and fails after the deadline.
pub(crate) fn eventually(condition: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < DEADLINE,
            "waited in vain for {condition}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for `future`, and fails after the deadline.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}

/// The pipes of a child, which keep them open.
pub(crate) type Pipes = (Stdin, BufReader<Stdout>);

/// Reads one line.
pub(crate) async fn line(stdout: &mut BufReader<Stdout>) -> String {
    let mut line = String::new();
    within(stdout.read_line(&mut line)).await.expect("readable");
    line
}

/// Reads the line `ready`, and returns the rest to read.
pub(crate) async fn ready(stdout: Stdout) -> BufReader<Stdout> {
    let mut stdout = BufReader::new(stdout);
    assert_eq!(line(&mut stdout).await, "ready\n");
    stdout
}

/// Returns a policy of `actions` that have no time to work, and one that has unlimited time.
pub(crate) fn policy(without_effect: &[ShutdownAction], at_last: ShutdownAction) -> ShutdownPolicy {
    let step = |policy: ShutdownPolicy, action: &ShutdownAction| policy.then(*action, SHORT_WAIT);
    let policy = without_effect
        .iter()
        .fold(ShutdownPolicy::kill_at_once(), step);
    policy.then(at_last, DEADLINE).kill_within(DEADLINE)
}

/// Returns a policy without steps and without a time limit for the kill.
pub(crate) fn kill_at_once() -> ShutdownPolicy {
    ShutdownPolicy::kill_at_once().kill_within(DEADLINE)
}

pub(crate) const CLOSE: ShutdownAction = ShutdownAction::CloseStdin;
pub(crate) const INTERRUPT: ShutdownAction = ShutdownAction::Signal(Signal::Interrupt);
pub(crate) const TERMINATE: ShutdownAction = ShutdownAction::Signal(Signal::Terminate);

/// Returns the whole policy, for a child that is expected to ignore it.
pub(crate) fn short_policy() -> ShutdownPolicy {
    let steps = [CLOSE, INTERRUPT, TERMINATE];
    let step = |policy: ShutdownPolicy, action| policy.then(action, SHORT_WAIT);
    let policy = steps.into_iter().fold(ShutdownPolicy::kill_at_once(), step);
    policy.kill_within(DEADLINE)
}

/// Ignores everything but a kill, and prints `ready` when it does.
pub(crate) const STUBBORN: &str = "trap '' HUP INT TERM; echo ready; while :; do sleep 1; done";

/// Returns whether the process is in the process list, alive or as a zombie.
pub(crate) fn is_listed(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Returns the state of the process in the process list, such as `T` for a stopped one.
pub(crate) fn state(pid: u32) -> Option<char> {
    state_and_parent(pid).map(|(state, _)| state)
}

fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Returns the living descendants of the process `pid`.
pub(crate) fn descendants(pid: u32) -> HashSet<u32> {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<_> = pids
        .filter(|pid| is_alive(*pid))
        .filter_map(|pid| Some((pid, state_and_parent(pid)?.1)))
        .collect();
    let mut found = HashSet::new();
    let mut parents_to_visit = vec![pid];
    while let Some(parent) = parents_to_visit.pop() {
        let children = parents.iter().filter(|(_, other)| *other == parent);
        for (child, _) in children {
            if found.insert(*child) {
                parents_to_visit.push(*child);
            }
        }
    }
    found
}

/// Returns whether the process is alive.
pub(crate) fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
