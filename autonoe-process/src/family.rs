//! A child and all that it has started.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::Marker;
use crate::ladder::Deadline;
use crate::ladder::{ProcessInfo, Sweep};
use crate::signal::Addressee;
use crate::table::{self, Identity, Kin, Row};

/// How long a killed process gets before it is looked for again.
pub(crate) const BETWEEN_ROUNDS: Duration = Duration::from_millis(10);

/// A child and all that it has started, also what has gone away from it since.
#[derive(Debug)]
pub(crate) struct Family {
    marker: Marker,
    /// The child, as long as its number is certain to be its own.
    child: Option<Pid>,
    /// The supervisor of the child, while its process ID cannot have been reused.
    supervisor: Option<Pid>,
    known: HashSet<Identity>,
    killed: HashMap<Identity, ProcessInfo>,
}

impl Family {
    pub(crate) fn of(child: Pid, marker: Marker) -> Self {
        Self {
            child: Some(child),
            ..Self::marked(marker)
        }
    }

    /// Makes a family of which no child is known, only its marker.
    pub(crate) fn marked(marker: Marker) -> Self {
        Self {
            marker,
            child: None,
            supervisor: None,
            known: HashSet::new(),
            killed: HashMap::new(),
        }
    }

    /// Sets the supervisor of the child. All its descendants belong to the family.
    pub(crate) fn set_supervisor(&mut self, supervisor: Pid) {
        self.supervisor = Some(supervisor);
        // If the supervisor is killed, the process ID of the child may be reused.
        let child = self.child.and_then(|child| table::row_of(number(child)));
        self.known.extend(child.as_ref().map(Row::identity));
    }

    /// Continues the supervisor if it is stopped.
    pub(crate) fn continue_supervisor(&self) {
        if let Some(supervisor) = self.supervisor {
            let _ = kill_process(supervisor, Signal::CONT);
        }
    }

    /// Tells whether a child that has ended left no process behind, as the supervisor proves it.
    ///
    /// Every process below the supervisor that loses its parent becomes a child of the supervisor.
    /// If the supervisor has no child but the ended one, nothing below it is alive. The kernel adds
    /// adopted children at the end of the list, so a list with the child alone is complete.
    ///
    /// `false` is no proof of the opposite. Reading the list of all processes instead takes
    /// milliseconds, which short commands would spend on nothing else.
    pub(crate) fn is_proven_empty(&self) -> bool {
        let (Some(child), Some(supervisor)) = (self.child, self.supervisor) else {
            return false;
        };
        table::children(number(supervisor)).is_some_and(|children| children == [number(child)])
    }

    /// Takes a process for one of the family.
    pub(crate) fn know(&mut self, identity: Identity) {
        self.known.insert(identity);
    }

    /// Forgets the process IDs of the child and its supervisor, which may be reused by now.
    pub(crate) fn forget_child(&mut self) {
        self.child = None;
        self.supervisor = None;
    }

    /// Looks who lives, and remembers them for when they have lost their parents.
    ///
    /// The child itself is left out.
    pub(crate) fn look(&mut self) -> Vec<Row> {
        let kin = Kin {
            host: std::process::id(),
            child: self.child.map(number),
            supervisor: self.supervisor.map(number),
            known: &self.known,
        };
        let mut living = table::members(&table::read(&self.marker), &kin);
        self.known.extend(living.iter().map(Row::identity));
        let child = self.child.map(number);
        living.retain(|row| Some(row.pid) != child);
        living
    }

    /// Finds those that have the marker, the child left out.
    pub(crate) fn marked_now(&self) -> Vec<ProcessInfo> {
        let others = [Some(std::process::id()), self.child.map(number)];
        let mut rows = table::read(&self.marker);
        rows.retain(|row| row.marked && !row.ended && !others.contains(&Some(row.pid)));
        rows.iter().map(Row::info).collect()
    }

    /// Finds those that descend from the child.
    pub(crate) fn descendants(&self) -> Vec<ProcessInfo> {
        let Some(child) = self.child.map(number) else {
            return Vec::new();
        };
        let table = table::read(&self.marker);
        let found = table::descendants(&table, child, std::process::id());
        found.iter().map(Row::info).collect()
    }

    /// Kills `living`, and with each of them its whole group.
    pub(crate) fn kill(&mut self, living: &[Row]) {
        for row in living {
            self.killed.insert(row.identity(), row.info());
            end(row);
        }
    }

    /// Sends `signal` to the child, or to the program that it keeps in a sandbox.
    ///
    /// The status of the child must not have been taken: then its number is its own.
    pub(crate) fn signal(&self, addressee: Addressee, signal: Signal) -> Result<(), Errno> {
        let child = self.child.ok_or(Errno::SRCH)?;
        // A kill is for all of them, and bubblewrap takes them along.
        if addressee == Addressee::InSandbox && signal != Signal::KILL {
            let rows = table::read(&self.marker);
            if let Some(program) = table::program_in_sandbox(&rows, number(child)) {
                return send(program, signal);
            }
        }
        kill_process(child, signal)
    }

    /// Kills the group of the child.
    pub(crate) fn kill_group_of_child(&self) {
        if let Some(child) = self.child {
            // It may have no members left, which is as good.
            let _ = kill_process_group(child, Signal::KILL);
        }
    }

    /// Returns those that were killed so far, the child left out.
    pub(crate) fn killed(&self) -> Vec<ProcessInfo> {
        let mut killed: Vec<_> = self.killed.values().cloned().collect();
        killed.sort_by_key(|process| process.pid);
        killed
    }

    /// Kills all of them again and again, and their groups, until none is left or the limit is over.
    pub(crate) fn kill_all(mut self, limit: Duration) -> Sweep {
        let deadline = Deadline::after(limit);
        let mut clean = CleanLooks::default();
        loop {
            let living = self.look();
            let done = clean.enough(living.is_empty());
            self.kill(&living);
            if done || deadline.has_come() {
                return Sweep {
                    killed: self.killed(),
                    left: living.iter().map(Row::info).collect(),
                };
            }
            std::thread::sleep(BETWEEN_ROUNDS);
        }
    }
}

/// Counts looks that found nobody.
///
/// One is not enough: a process can start another with a smaller number, which the
/// look has passed already, and end before the look comes to it.
#[derive(Debug, Default)]
pub(crate) struct CleanLooks(u32);

impl CleanLooks {
    /// Takes note of a look, and tells whether it can be believed by now.
    pub(crate) fn enough(&mut self, found_nobody: bool) -> bool {
        self.0 = if found_nobody { self.0 + 1 } else { 0 };
        self.0 >= 2
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn as_pid(number: u32) -> Option<Pid> {
    Pid::from_raw(number.try_into().ok()?)
}

#[cfg(target_os = "linux")]
fn end(row: &Row) {
    // A group is killed at once, so that its members cannot go on by starting others. All
    // of it came from the child, which got a session of its own: groups do not reach across.
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
            tracing::warn!(pid = row.pid, name = row.name, %error, "a process cannot be killed");
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn end(_row: &Row) {}

fn send(row: &Row, signal: Signal) -> Result<(), Errno> {
    send_after(row, signal, || {})
}

/// Sends `signal` to the process of `row`, if it is still that, after something else was done.
#[cfg(target_os = "linux")]
fn send_after(row: &Row, signal: Signal, before: impl FnOnce()) -> Result<(), Errno> {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    let pid = as_pid(row.pid).ok_or(Errno::SRCH)?;
    // The descriptor stands for one process, so what was checked with it open is what is
    // killed, also when the number goes to another one meanwhile. Systems before Linux 5.3
    // have none; there the moment between check and kill stays.
    let descriptor = pidfd_open(pid, PidfdFlags::empty());
    if !table::still_is(row.identity()) {
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
