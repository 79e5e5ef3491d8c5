//! [`ProcessTree`], the process tree of a child.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::Marker;
use crate::shutdown_policy::{Deadline, KillReport, ProcessInfo, SignalTarget};
use crate::table::{self, Identity, Row, TreeMembers};

/// Time between two rounds of killing.
pub(crate) const BETWEEN_ROUNDS: Duration = Duration::from_millis(10);

/// The process tree of a child, including processes that have lost their parents.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    marker: Marker,
    /// The child, as long as its process ID cannot have been reused.
    child: Option<Pid>,
    /// The supervisor of the child, while its process ID cannot have been reused.
    supervisor: Option<Pid>,
    known: HashSet<Identity>,
    killed: HashMap<Identity, ProcessInfo>,
}

impl ProcessTree {
    pub(crate) fn new(child: Pid, marker: Marker) -> Self {
        Self {
            child: Some(child),
            ..Self::from_marker(marker)
        }
    }

    /// Creates a process tree of a marker, without a known child.
    pub(crate) fn from_marker(marker: Marker) -> Self {
        Self {
            marker,
            child: None,
            supervisor: None,
            known: HashSet::new(),
            killed: HashMap::new(),
        }
    }

    /// Sets the supervisor of the child. All its descendants belong to the process tree.
    pub(crate) fn set_supervisor(&mut self, supervisor: Pid) {
        self.supervisor = Some(supervisor);
        // If the supervisor is killed, the process ID of the child may be reused.
        let child = self.child.and_then(|child| table::read_row(raw_pid(child)));
        self.known.extend(child.as_ref().map(Row::identity));
    }

    /// Continues the supervisor if it is stopped.
    pub(crate) fn continue_supervisor(&self) {
        if let Some(supervisor) = self.supervisor {
            let _ = kill_process(supervisor, Signal::CONT);
        }
    }

    /// Returns whether a child that has ended left no process behind, as proven by the supervisor.
    ///
    /// Every process below the supervisor that loses its parent becomes a child of the supervisor.
    /// If the supervisor has no child but the ended one, nothing below it is alive. The kernel adds
    /// adopted children at the end of the list, so a list with the child alone is complete.
    ///
    /// `false` does not prove the opposite. Reading the list of all processes instead takes
    /// milliseconds, which would dominate the time of short commands.
    pub(crate) fn is_proven_empty(&self) -> bool {
        let (Some(child), Some(supervisor)) = (self.child, self.supervisor) else {
            return false;
        };
        table::children(raw_pid(supervisor)).is_some_and(|children| children == [raw_pid(child)])
    }

    /// Adds a process to the tree.
    pub(crate) fn add(&mut self, identity: Identity) {
        self.known.insert(identity);
    }

    /// Forgets the process IDs of the child and its supervisor, which may be reused by now.
    pub(crate) fn forget_child(&mut self) {
        self.child = None;
        self.supervisor = None;
    }

    /// Returns the living processes, and remembers them for when they lose their parents.
    ///
    /// The child itself is excluded.
    pub(crate) fn scan(&mut self) -> Vec<Row> {
        let members = TreeMembers {
            host: std::process::id(),
            child: self.child.map(raw_pid),
            supervisor: self.supervisor.map(raw_pid),
            known: &self.known,
        };
        let mut alive = table::members(&table::read(&self.marker), &members);
        self.known.extend(alive.iter().map(Row::identity));
        let child = self.child.map(raw_pid);
        alive.retain(|row| Some(row.pid) != child);
        alive
    }

    /// Returns the living processes that have the marker, except this process and the child.
    pub(crate) fn marked_processes(&self) -> Vec<ProcessInfo> {
        let others = [Some(std::process::id()), self.child.map(raw_pid)];
        let mut rows = table::read(&self.marker);
        rows.retain(|row| row.marked && !row.ended && !others.contains(&Some(row.pid)));
        rows.iter().map(Row::info).collect()
    }

    /// Kills `alive`, each with its whole process group.
    pub(crate) fn kill(&mut self, alive: &[Row]) {
        for row in alive {
            self.killed.insert(row.identity(), row.info());
            kill_with_group(row);
        }
    }

    /// Sends `signal` to the child, or to the program that the child runs in a sandbox.
    ///
    /// The child must not have been reaped, so that its process ID is not reused.
    pub(crate) fn signal(&self, signal_target: SignalTarget, signal: Signal) -> Result<(), Errno> {
        let child = self.child.ok_or(Errno::SRCH)?;
        // A kill is for the whole sandbox, and bubblewrap takes its processes along.
        if signal_target == SignalTarget::InSandbox && signal != Signal::KILL {
            let rows = table::read(&self.marker);
            if let Some(program) = table::program_in_sandbox(&rows, raw_pid(child)) {
                return send(program, signal);
            }
        }
        kill_process(child, signal)
    }

    /// Kills the group of the child.
    pub(crate) fn kill_group_of_child(&self) {
        if let Some(child) = self.child {
            // The group may be empty.
            let _ = kill_process_group(child, Signal::KILL);
        }
    }

    /// Returns the processes that were killed so far, except the child.
    pub(crate) fn killed(&self) -> Vec<ProcessInfo> {
        let mut killed: Vec<_> = self.killed.values().cloned().collect();
        killed.sort_by_key(|process| process.pid);
        killed
    }

    /// Kills all processes and their groups repeatedly, until none is left or the limit has passed.
    pub(crate) fn kill_all(mut self, limit: Duration) -> KillReport {
        let deadline = Deadline::after(limit);
        let mut clean = EmptyScans::default();
        loop {
            let alive = self.scan();
            let done = clean.record(alive.is_empty());
            self.kill(&alive);
            if done || deadline.has_passed() {
                return KillReport {
                    killed: self.killed(),
                    left: alive.iter().map(Row::info).collect(),
                };
            }
            std::thread::sleep(BETWEEN_ROUNDS);
        }
    }
}

/// Counts consecutive scans that found no process.
///
/// One scan is not enough: a process can start another with a smaller process ID, which the scan
/// has passed already, and end before the scan reaches it.
#[derive(Debug, Default)]
pub(crate) struct EmptyScans(u32);

impl EmptyScans {
    /// Records the result of a scan, and returns whether the process tree is certainly empty.
    pub(crate) fn record(&mut self, found_none: bool) -> bool {
        self.0 = if found_none { self.0 + 1 } else { 0 };
        self.0 >= 2
    }
}

fn raw_pid(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn as_pid(raw_pid: u32) -> Option<Pid> {
    Pid::from_raw(raw_pid.try_into().ok()?)
}

#[cfg(target_os = "linux")]
fn kill_with_group(row: &Row) {
    // The whole group is killed at once, so that its members cannot escape by forking. All of it
    // comes from the child, which has a session of its own: groups do not span sessions.
    let kill_group = || {
        let other_session = table::own_session().is_some_and(|own| own != row.session);
        let is_whole = other_session && row.group > 1;
        if let Some(group) = as_pid(row.group).filter(|_| is_whole) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    };
    match send_after(row, Signal::KILL, kill_group) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => {
            tracing::warn!(pid = row.pid, name = row.name, %error, "a process could not be killed");
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_with_group(_row: &Row) {}

fn send(row: &Row, signal: Signal) -> Result<(), Errno> {
    send_after(row, signal, || {})
}

/// Sends `signal` to the process of `row`, if that is still the same process, after it called
/// `before`.
#[cfg(target_os = "linux")]
fn send_after(row: &Row, signal: Signal, before: impl FnOnce()) -> Result<(), Errno> {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    let pid = as_pid(row.pid).ok_or(Errno::SRCH)?;
    // The descriptor refers to one process. The process that was checked while it is open is the
    // one that gets the signal, even if the process ID is reused meanwhile. Systems before Linux
    // 5.3 have no such descriptors, so a race between check and kill remains there.
    let descriptor = pidfd_open(pid, PidfdFlags::empty());
    if !table::is_same_process(row.identity()) {
        return Err(Errno::SRCH);
    }
    before();
    match descriptor {
        Ok(descriptor) => pidfd_send_signal(descriptor, signal),
        Err(Errno::NOSYS) => kill_process(pid, signal),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn send_after(_row: &Row, _signal: Signal, _before: impl FnOnce()) -> Result<(), Errno> {
    Err(Errno::SRCH)
}
