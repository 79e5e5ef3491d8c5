//! Supervisor process between this program and a child.
//!
//! The supervisor is a fork of this program that executes nothing else. As a subreaper, it becomes
//! the parent of every orphan below it. A daemon stays its descendant whatever session and
//! environment it has, also after the child has ended, so the keeper finds it by parent links.
//! When this program dies, the supervisor interrupts the child, waits for its exit, and kills the
//! remaining processes.
//!
//! If this program were the subreaper, it could not distinguish orphans from its other children,
//! and they would survive its death. A separate program would have to be installed next to every
//! program that uses this crate. Hence the fork.
//!
//! A pipe connects both: the keeper reads the exit of the child from it, and closes it to end the
//! supervisor.
//!
//! The program that was forked may have many threads, and locks may be held by threads that do not
//! exist in the copy. Code that runs in the supervisor must not allocate, lock, print or panic.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::{Errno, read};
use rustix::path::DecInt;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, chdir, getpgid, kill_process,
    kill_process_group, pidfd_open, set_dumpable_behavior, waitid,
};

use crate::exit;

/// Command name of a child that has not executed its program yet. Executing replaces it.
pub(crate) const NOT_EXECUTED: &CStr = c"\x01not executed";

/// List of the children of the calling process.
const CHILDREN: &CStr = c"/proc/thread-self/children";

/// Time between two rounds of killing.
const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Rounds of killing before the supervisor gives up: ten seconds.
const ROUNDS: u32 = 2_000;

/// Returns whether the system supports a supervisor: Linux 5.9, and `/proc` with lists of children.
/// The caller checks `close_range`.
pub(crate) fn is_supported() -> bool {
    pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).is_ok()
        && open(CHILDREN, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).is_ok()
}

/// Supervises `child` until this program closes its end of the pipe `host`.
pub(crate) fn supervise(child: Pid, host: BorrowedFd<'_>) {
    // Memory and environment are copies of this program's and may hold secrets.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = chdir(c"/");
    // `poll` reports an error for the pipe when it has no reader any more.
    let host_end = || PollFd::from_borrowed_fd(host, PollFlags::empty());
    if let Ok(ended) = pidfd_open(child, PidfdFlags::empty()) {
        let mut events = [PollFd::new(&ended, PollFlags::IN), host_end()];
        wait(&mut events);
        let [ended, _] = &events;
        if ended.revents().is_empty() {
            let _ = kill_process(child, Signal::INT);
        }
    }
    exit::report(host, exit::wait_without_reaping(child));
    // If the program could not be executed, `spawn` waits for this process to end.
    if has_executed(child) {
        wait(&mut [host_end()]);
    }
    kill_descendants();
}

fn wait(events: &mut [PollFd<'_>]) {
    while poll(events, None).is_err() {}
}

fn has_executed(child: Pid) -> bool {
    let mut name = [0; 16];
    let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file = OFlags::RDONLY | OFlags::CLOEXEC;
    let read = open(c"/proc", folder, Mode::empty())
        .and_then(|all| openat(all, DecInt::new(child.as_raw_pid()), folder, Mode::empty()))
        .and_then(|child| openat(child, c"comm", file, Mode::empty()))
        .and_then(|comm| read(comm, &mut name));
    read.is_ok() && !name.starts_with(NOT_EXECUTED.to_bytes())
}

/// Kills children until none is left. Their orphans become children of this process.
fn kill_descendants() {
    for _ in 0..ROUNDS {
        for_each_child(|child| {
            // Members of a group cannot escape by forking: the signal reaches all of them at once.
            // The supervisor has a session of its own, so all groups below it are the child's.
            if let Ok(group) = getpgid(Some(child))
                && group != Pid::INIT
            {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = kill_process(child, Signal::KILL);
        });
        if !reap() {
            return;
        }
        let _ = poll(&mut [], Some(&PAUSE));
    }
}

/// Calls `act` for each child. Only [`reap`] releases their process IDs.
fn for_each_child(act: impl Fn(Pid)) {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(list) = open(CHILDREN, flags, Mode::empty()) else {
        return;
    };
    let mut number: i32 = 0;
    let mut chunk = [0; 512];
    while let Ok(length @ 1..) = read(&list, &mut chunk) {
        for byte in chunk.iter().take(length) {
            if byte.is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
            } else if let Some(child) = Pid::from_raw(std::mem::take(&mut number)) {
                act(child);
            }
        }
    }
}

/// Reaps children that have ended, and returns whether any child is left.
fn reap() -> bool {
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(error) => return error != Errno::CHILD,
        }
    }
}
