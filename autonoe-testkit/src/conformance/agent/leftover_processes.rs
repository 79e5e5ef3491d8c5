//! Detection of processes that outlive their session.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::Scenario;
use crate::conformance::checks::{CheckOutcome, Flaw};

/// The variable that every process of a session inherits.
const VARIABLE: &str = "AUTONOE_CONFORMANCE_SESSION";

/// Prefix of the argument that identifies a process of [`left_in_background`].
const ARGUMENT: &str = "autonoe-conformance-background";

/// The pause between two listings of the processes.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest real time to wait for processes, however busy the machine is.
const MOST: Duration = Duration::from_secs(600);

/// A longer pause shows that the machine is busy.
const LONGEST_PAUSE: Duration = Duration::from_millis(60);

/// The bit of SIGKILL in the masks of `/proc/PID/status`.
const SIGKILL: u64 = 1 << 8;

/// Identifies the processes of one session.
#[derive(Debug)]
pub(super) struct SessionProcesses {
    /// The value of the variable, unique to the session.
    value: String,
    /// The directory of the session, if only the session works there.
    project: Option<PathBuf>,
    /// An argument of the process that the agent leaves in the background.
    argument: Option<String>,
    /// The processes that existed before the session.
    before: BTreeSet<u32>,
}

impl SessionProcesses {
    /// Prepares a session of `scenario` in `project`.
    pub(super) fn new(project: &Path, scenario: &Scenario) -> Self {
        let project = project.canonicalize().ok();
        let temporary = std::env::temp_dir().canonicalize().ok();
        let project = project.filter(|project| Some(project) != temporary.as_ref());
        let argument = match scenario {
            Scenario::RunsCommand { command } => argument(command),
            _ => None,
        };
        let mut processes = Self {
            value: unique("session"),
            project,
            argument,
            before: BTreeSet::new(),
        };
        processes.before = processes.list().map(|process| process.pid).collect();
        processes
    }

    /// Returns the inherited variable with its value.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.value)
    }

    /// Waits until no process of the session is left.
    ///
    /// Fails when a process is left after `limit`. Only time in which the process could have been
    /// ended counts: neither a pause in which the machine was too busy to run this task, nor the
    /// time until the system delivers a pending SIGKILL. A busy machine therefore slows the check
    /// down but does not fail it, unless the process is still alive after [`MOST`].
    pub(super) async fn wait_for_exit(&self, limit: Duration) -> CheckOutcome {
        if !Path::new("/proc/self/environ").exists() {
            let reason = "this system does not list the environments of processes in /proc";
            return Err(Flaw::Untestable(reason.to_owned()));
        }
        let (started, mut waited) = (Instant::now(), Duration::ZERO);
        loop {
            let left: Vec<Process> = self.list().collect();
            let Some(first) = left.first() else {
                return Ok(());
            };
            if waited >= limit || started.elapsed() >= MOST {
                let others = left.len() - 1;
                return Err(Flaw::Failed(format!(
                    "process {} ({}) is left after the session, and {others} more",
                    first.pid, first.command
                )));
            }
            let start = Instant::now();
            // Tokio's time may be paused, but processes end in real time.
            let _ = tokio::task::spawn_blocking(|| std::thread::sleep(PAUSE)).await;
            let is_dying = left.iter().all(|process| process.is_killed);
            waited += counted(start.elapsed(), is_dying);
        }
    }

    /// Lists the live processes of the session.
    fn list(&self) -> impl Iterator<Item = Process> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let own = std::process::id();
        entries
            .filter_map(move |entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                let is_known = pid == own || self.before.contains(&pid);
                (!is_known).then(|| Process::read(pid)).flatten()
            })
            .filter(|process| self.has(process))
    }

    fn has(&self, process: &Process) -> bool {
        let variable = format!("{VARIABLE}={}", self.value);
        let has_variable = process
            .environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable.as_bytes());
        let is_in_project = self.project.as_ref().is_some_and(|project| {
            process
                .directory
                .as_ref()
                .is_some_and(|it| it.starts_with(project))
        });
        let is_background = self
            .argument
            .as_ref()
            .is_some_and(|argument| process.command.contains(argument));
        has_variable || is_in_project || is_background
    }
}

/// Returns the part of a pause that counts towards the limit.
fn counted(pause: Duration, is_dying: bool) -> Duration {
    if is_dying || pause > LONGEST_PAUSE {
        Duration::ZERO
    } else {
        pause
    }
}

/// Returns whether a process with this `/proc/PID/status` has a pending SIGKILL.
fn is_killed(status: &str) -> bool {
    let masks = status.lines().filter_map(|line| {
        let (name, mask) = line.split_once(':')?;
        let is_pending = ["SigPnd", "ShdPnd"].contains(&name);
        is_pending.then(|| u64::from_str_radix(mask.trim(), 16).ok())?
    });
    masks.fold(0, |all, mask| all | mask) & SIGKILL != 0
}

/// A process of this system.
struct Process {
    pid: u32,
    /// Whether it has a pending SIGKILL.
    is_killed: bool,
    command: String,
    environment: Vec<u8>,
    directory: Option<PathBuf>,
}

impl Process {
    /// Reads a process; `None` if it is gone or a zombie.
    fn read(pid: u32) -> Option<Self> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let command = fs::read(folder.join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.is_empty() {
            return None;
        }
        Some(Self {
            pid,
            is_killed: fs::read_to_string(folder.join("status")).is_ok_and(|it| is_killed(&it)),
            command: command.trim_end().to_owned(),
            environment: fs::read(folder.join("environ")).unwrap_or_default(),
            directory: fs::read_link(folder.join("cwd")).ok(),
        })
    }
}

/// Returns a shell command that leaves a process in the background.
pub(super) fn left_in_background() -> String {
    let argument = unique(ARGUMENT);
    // The second command prevents the shell from replacing itself, and its argument with it.
    format!("sh -c 'sleep 86400 && :' {argument} >/dev/null 2>&1 & true")
}

/// Returns the argument in a command of [`left_in_background`], which identifies its process even
/// without the environment of the session.
fn argument(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    words
        .find(|word| word.starts_with(ARGUMENT))
        .map(str::to_owned)
}

fn unique(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}-{}-{number}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_in_which_a_process_could_have_ended_counts() {
        let late = LONGEST_PAUSE + Duration::from_millis(1);
        for (pause, is_dying, expected) in [
            (PAUSE, false, PAUSE),
            (LONGEST_PAUSE, false, LONGEST_PAUSE),
            (late, false, Duration::ZERO),
            (Duration::from_secs(600), false, Duration::ZERO),
            (PAUSE, true, Duration::ZERO),
        ] {
            assert_eq!(counted(pause, is_dying), expected, "{pause:?} {is_dying}");
        }
    }

    #[test]
    fn a_pending_sigkill_is_found_in_either_mask() {
        for (signals, shared, expected) in [
            ("0000000000000000", "0000000000000000", false),
            ("0000000000000100", "0000000000000000", true),
            ("0000000000000000", "0000000000004100", true),
            // SIGTERM, which a process can block forever.
            ("0000000000004000", "0000000000004000", false),
        ] {
            let status = format!(
                "Name:\tsleep\nState:\tS (sleeping)\nSigPnd:\t{signals}\nShdPnd:\t{shared}\n\
                 SigBlk:\t0000000000000100\n"
            );

            assert_eq!(is_killed(&status), expected, "{status}");
        }
        assert!(!is_killed(""));
    }
}
