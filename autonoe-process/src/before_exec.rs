//! Setup of a child between fork and exec, with the only `unsafe` code of the crate.
//!
//! At this point the child is a copy of one thread of a program that may have many. Threads that do
//! not exist in the copy may hold locks. Code here must not allocate, lock or print; it only makes
//! system calls.

#![allow(unsafe_code)]

use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::setsid;

#[cfg(target_os = "linux")]
use crate::{exit, supervisor};

/// Signals that are reset to their default action in a child.
///
/// A child inherits the ignored signals of its parent, and many programs keep them ignored: a shell
/// without job control starts background jobs with `SIGINT` ignored.
const RESET: [libc::c_int; 5] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGCHLD,
];

/// Coupling of a child to the lifetime of this program.
#[derive(Debug)]
pub(crate) enum LifetimePolicy {
    /// A supervisor process interrupts the child and kills the processes that it leaves behind. The
    /// supervisor writes the process ID and later the exit of the child to this pipe.
    #[cfg(target_os = "linux")]
    Supervised(OwnedFd),
    /// The system interrupts the child when the thread that started it ends. Only on Linux;
    /// elsewhere nothing happens.
    DeathSignal,
    /// The child outlives this program.
    Detached,
}

/// Starts the child of `command` in its own session, tied to this program by `lifetime_policy`. The child
/// adopts the orphans among its descendants, and inherits `descriptors` and no others.
///
/// With [`LifetimePolicy::Supervised`], `command` spawns the supervisor.
pub(crate) fn prepare(
    command: &mut Command,
    descriptors: Vec<OwnedFd>,
    lifetime_policy: LifetimePolicy,
) {
    let host = std::process::id();
    let prepare = move || {
        // The new session is also a new process group and has no terminal: a program that prompts
        // for a password fails instead of waiting for input.
        setsid()?;
        reset_signals()?;
        apply_lifetime(host, &lifetime_policy)?;
        close_on_exec()?;
        // These copies belong to the child: in this process they stay closed on exec.
        for descriptor in &descriptors {
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: `prepare` makes system calls and nothing else. It neither allocates nor locks, and
    // the errors that it returns are plain numbers.
    unsafe {
        command.pre_exec(prepare);
    }
}

fn reset_signals() -> io::Result<()> {
    for signal in RESET {
        // SAFETY: `signal` may be called after a fork, and the default action is not a handler with
        // requirements of its own.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Marks all descriptors but the three pipes as close-on-exec.
///
/// This process may have inherited open files itself, and code that is not written in Rust may have
/// opened files that children inherit.
#[cfg(target_os = "linux")]
fn close_on_exec() -> io::Result<()> {
    match close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) {
        // Linux before 5.11 does not support the flag.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) => Ok(()),
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn close_on_exec() -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn close_range(first: libc::c_uint, last: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: The call takes three numbers. Callers close descriptors on exec, when the standard
    // library no longer needs them, or in a process that does not use the standard library.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(target_os = "linux")]
fn apply_lifetime(host: u32, lifetime_policy: &LifetimePolicy) -> io::Result<()> {
    use rustix::process::{getpid, set_child_subreaper};

    match lifetime_policy {
        LifetimePolicy::Supervised(pipe) => fork_supervised(pipe)?,
        LifetimePolicy::DeathSignal => die_with(host)?,
        LifetimePolicy::Detached => {}
    }
    // Descendants stay below the child when their parents end, so a shutdown finds them.
    set_child_subreaper(Some(getpid()))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn apply_lifetime(_host: u32, _lifetime: &LifetimePolicy) -> io::Result<()> {
    Ok(())
}

/// Makes the system interrupt this process when its parent dies.
#[cfg(target_os = "linux")]
fn die_with(parent: u32) -> io::Result<()> {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::INT))?;
    // The system sends no signal for a parent that died before the call above.
    let now = getppid().map(Pid::as_raw_pid);
    if now.map(i32::unsigned_abs) == Some(parent) {
        Ok(())
    } else {
        Err(Errno::SRCH.into())
    }
}

/// Returns whether children can have a supervisor.
#[cfg(target_os = "linux")]
pub(crate) fn can_supervise() -> bool {
    // No descriptor has these numbers: this checks whether the system supports the call.
    let closes = close_range(libc::c_uint::MAX, libc::c_uint::MAX, 0).is_ok();
    closes && supervisor::is_supported()
}

/// Forks the child from this process, which becomes its supervisor. Returns in the child only.
#[cfg(target_os = "linux")]
fn fork_supervised(pipe: &OwnedFd) -> io::Result<()> {
    use rustix::process::{Pid, getpid, set_child_subreaper};

    let own = getpid();
    set_child_subreaper(Some(own))?;
    // SAFETY: `fork` may be called here. Both processes only make system calls, the child until it
    // executes its program, and the supervisor until it ends.
    let forked = unsafe { libc::fork() };
    if forked < 0 {
        return Err(io::Error::last_os_error());
    }
    let Some(child) = Pid::from_raw(forked) else {
        rustix::thread::set_name(supervisor::NOT_EXECUTED)?;
        setsid()?;
        die_with(own.as_raw_pid().unsigned_abs())?;
        exit::send(pipe.as_fd(), getpid().as_raw_pid());
        return Ok(());
    };
    // Signal handlers of the host must not run here, and only `SIGKILL` ends this process.
    block_signals();
    // These include locks, sockets and the pipes of the child.
    let pipe_fd = pipe.as_raw_fd().unsigned_abs();
    let _ = close_range(0, pipe_fd.saturating_sub(1), 0);
    let _ = close_range(pipe_fd.saturating_add(1), libc::c_uint::MAX, 0);
    supervisor::supervise(child, pipe.as_fd());
    // SAFETY: The call ends this process without running code of the host.
    unsafe { libc::_exit(0) }
}

#[cfg(target_os = "linux")]
fn block_signals() {
    let mut all = MaybeUninit::uninit();
    // SAFETY: `sigfillset` initialises the set before its use, and the old set is not requested.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
    }
}
