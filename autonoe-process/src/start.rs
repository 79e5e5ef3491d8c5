//! Starts a child of a [`Launch`] in a thread of its own.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::Arc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;

use crate::before_exec::LifetimePolicy;
use crate::keeper::{Keeper, Lifeline, Shared, Spawned};
use crate::shutdown_policy::SignalTarget;
use crate::stdio::{Stdin, Stdout};
use crate::{Launch, LaunchError, Process, before_exec, exit, inherited};

/// A started child, and the ends of its pipes.
#[derive(Debug)]
pub struct StartedProcess {
    /// The child.
    pub process: Process,
    /// Writes to its standard input.
    pub stdin: Stdin,
    /// Reads its standard output.
    pub stdout: Stdout,
}

impl Launch {
    /// Starts the program.
    ///
    /// On Linux the child has a supervisor process. However this program ends, the supervisor sends
    /// `SIGINT` to the child, and kills the remaining processes when the child has exited.
    /// Before Linux 5.9 there is no supervisor, and the system sends the signal. If the future is
    /// dropped, a child that was started already is ended.
    ///
    /// # Errors
    ///
    /// The program cannot be started. None of its processes runs.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with I/O enabled.
    pub async fn start(mut self) -> Result<StartedProcess, LaunchError> {
        let (program, marker) = (self.program.clone(), self.marker.clone());
        let failed = |source| LaunchError::system(&program, source);
        let mut descriptors = self.open_secrets().map_err(failed)?;
        let (command, options) = self.command()?;
        descriptors.extend(options);
        let (reply, started) = oneshot::channel();
        let span = tracing::Span::current();
        thread::Builder::new()
            .name("process-parent".into())
            .spawn(move || span.in_scope(|| run_parent_thread(self, command, descriptors, reply)))
            .map_err(failed)?;
        let answer = started
            .await
            .map_err(|_| failed(io::Error::other("the thread that starts it has ended")))?;
        let child = answer?;

        let stdin = child.shared.stdin.clone().open(OwnedFd::from(child.stdin));
        let stdout = Stdout::open(OwnedFd::from(child.stdout));
        let process = Process::new(child.pid, marker, child.shared, child.lifeline);
        Ok(StartedProcess {
            process,
            stdin: stdin.map_err(failed)?,
            stdout: stdout.map_err(failed)?,
        })
    }
}

/// A child, as its starting thread sends it.
///
/// Dropping it closes the lifeline, so the keeper ends the child.
struct Forked {
    pid: Pid,
    stdin: ChildStdin,
    stdout: ChildStdout,
    shared: Arc<Shared>,
    lifeline: Lifeline,
}

/// Starts the child and sends it to its keeper. Without a supervisor, it returns after the exit of
/// the child: the system ties the child to this thread.
fn run_parent_thread(
    launch: Launch,
    command: Command,
    descriptors: Vec<OwnedFd>,
    reply: oneshot::Sender<Result<Forked, LaunchError>>,
) {
    match fork(launch, command, descriptors) {
        Ok((forked, exit_pipe)) => {
            let pid = forked.pid;
            // If the caller has stopped waiting, the child is dropped here.
            let _ = reply.send(Ok(forked));
            if let Some(pipe) = exit_pipe {
                exit::report(pipe.as_fd(), exit::wait_without_reaping(pid));
            }
        }
        Err(error) => {
            let _ = reply.send(Err(error));
        }
    }
}

/// Starts the child under a keeper.
///
/// Without a supervisor, it returns the pipe to which the caller writes the exit of the child.
fn fork(
    mut launch: Launch,
    mut command: Command,
    descriptors: Vec<OwnedFd>,
) -> Result<(Forked, Option<PipeWriter>), LaunchError> {
    let (program, directory) = (launch.program.clone(), launch.directory.clone());
    let failed = |source| LaunchError::system(&program, source);
    let inherited = launch.inherited.iter().map(inherited::copy);
    let inherited = inherited
        .chain(descriptors.into_iter().map(Ok))
        .collect::<io::Result<_>>();
    let (mut exit, writer) = io::pipe().map_err(failed)?;
    let (lifetime_policy, exit_pipe) = new_lifetime_policy(writer);
    before_exec::prepare(&mut command, inherited.map_err(failed)?, lifetime_policy);
    let shared = Shared::new(SignalTarget::for_launch(&launch));
    let (lifeline, lifeline_receiver) = Lifeline::new().map_err(failed)?;
    // If the start fails, the folder is removed before the error is reported.
    let folder = launch.folder.take();
    // The keeper starts before the child, which must not be without one if the system is out of
    // threads.
    let spawned_tx = Keeper::start(launch, shared.clone(), lifeline_receiver).map_err(failed)?;

    let spawned = command.spawn();
    // The command holds the supervisor's end of the pipe.
    drop(command);
    let mut child =
        spawned.map_err(|source| LaunchError::from_system(&program, &directory, source))?;
    let pid = match exit_pipe {
        Some(_) => Pid::from_child(&child),
        // The supervisor's fork wrote it before it executed the program.
        None => exit::recv_number(&mut exit)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| failed(io::Error::other("the supervisor reported no process ID")))?,
    };
    let pipes = child.stdin.take().zip(child.stdout.take());
    let spawned = Spawned {
        child,
        pid,
        exit,
        folder,
    };
    if let Err(refused) = spawned_tx.send(spawned) {
        let Spawned {
            mut child, exit, ..
        } = refused.0;
        let _ = kill_process(pid, Signal::KILL);
        drop(exit);
        let _ = child.wait();
        return Err(failed(io::Error::other(
            "the thread that watches it has ended",
        )));
    }
    let (stdin, stdout) = pipes.ok_or_else(|| failed(io::Error::other("it has no pipes")))?;
    let forked = Forked {
        pid,
        stdin,
        stdout,
        shared,
        lifeline,
    };
    Ok((forked, exit_pipe))
}

/// Passes the pipe to a supervisor if the system supports one, and returns it otherwise.
#[cfg(target_os = "linux")]
fn new_lifetime_policy(pipe: PipeWriter) -> (LifetimePolicy, Option<PipeWriter>) {
    if before_exec::can_supervise() {
        (LifetimePolicy::Supervised(pipe.into()), None)
    } else {
        (LifetimePolicy::DeathSignal, Some(pipe))
    }
}

#[cfg(not(target_os = "linux"))]
fn new_lifetime_policy(pipe: PipeWriter) -> (LifetimePolicy, Option<PipeWriter>) {
    (LifetimePolicy::DeathSignal, Some(pipe))
}
