//! What a child does between fork and exec, and the only `unsafe` of the crate.
//!
//! In that moment it is a copy of one thread of a program that may have many: locks
//! may be held by threads that do not exist in it. So nothing here may allocate,
//! lock or print; system calls are all there is.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::setsid;

/// Signals that a child must be able to take as it likes.
///
/// What its parent ignores, a child ignores too, and many programs leave it at that: a
/// shell without job control starts what is in the background with `SIGINT` ignored.
const RESET: [libc::c_int; 5] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGCHLD,
];

/// Whether a child dies with the thread that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tie {
    /// It is sent a signal.
    Dies,
    /// It is not.
    Outlives,
}

/// Lets the child of `command` begin in a session of its own, die with this thread or not,
/// adopt the orphans among its descendants, and inherit `descriptors` and no other.
pub(crate) fn prepare(command: &mut Command, descriptors: Vec<OwnedFd>, tie: Tie) {
    let host = std::process::id();
    let prepare = move || {
        // A session of its own is also a group of its own, and has no terminal: what asks
        // for a password fails instead of waiting for somebody to type it.
        setsid()?;
        reset_signals()?;
        tie_to(host, tie)?;
        close_on_exec()?;
        // The copies here are the child's own: in this process they stay closed on exec.
        for descriptor in &descriptors {
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: `prepare` makes system calls and nothing else; it neither allocates nor
    // takes a lock, and the errors that it returns are plain numbers.
    unsafe {
        command.pre_exec(prepare);
    }
}

fn reset_signals() -> io::Result<()> {
    for signal in RESET {
        // SAFETY: `signal` may be called after a fork, and the default action is no handler
        // whose demands could be broken.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Has everything but the three pipes closed on exec.
///
/// This process may have inherited open files itself, or parts of it that are not written
/// in Rust may have opened some in the way that children inherit.
#[cfg(target_os = "linux")]
fn close_on_exec() -> io::Result<()> {
    let (first, last) = (3, libc::c_uint::MAX);
    // SAFETY: The call takes three numbers, and does not close what the standard library
    // still needs until exec.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            last,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match io::Error::last_os_error() {
        _ if result == 0 => Ok(()),
        // Linux before 5.11 cannot do it.
        error if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) => Ok(()),
        error => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn close_on_exec() -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn tie_to(host: u32, tie: Tie) -> io::Result<()> {
    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal,
    };

    if tie == Tie::Dies {
        set_parent_process_death_signal(Some(Signal::INT))?;
        // A parent that died before the line above was executed sends nothing any more.
        let parent = getppid().map(Pid::as_raw_pid);
        if parent.map(i32::unsigned_abs) != Some(host) {
            return Err(Errno::SRCH.into());
        }
    }
    // Its descendants stay its descendants when their parents end, and are found.
    set_child_subreaper(Some(getpid()))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn tie_to(_host: u32, _tie: Tie) -> io::Result<()> {
    Ok(())
}
