//! Starting a child, from a thread that stays its parent.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::Arc;
use std::thread;

use rustix::process::Pid;
use tokio::sync::oneshot;

use crate::addressee::Addressee;
use crate::before_exec::Tie;
use crate::keeper::{Keeper, Lifeline, Shared};
use crate::stdio::{Stdin, Stdout};
use crate::{Launch, LaunchError, Process, before_exec, exit, inherited};

/// A child that was started, and the ends of its pipes.
#[derive(Debug)]
pub struct Started {
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
    /// On Linux the child gets `SIGINT` when this program dies, however it does. That
    /// signal is tied to the thread that started the child, so each child has a thread
    /// that starts it and lives as long as it does. When the future is dropped, a child
    /// that was started already is ended.
    ///
    /// # Errors
    ///
    /// The program cannot be started; nothing of it runs.
    ///
    /// # Panics
    ///
    /// It is not called in a tokio runtime with I/O enabled.
    pub async fn start(mut self) -> Result<Started, LaunchError> {
        let (program, marker) = (self.program.clone(), self.marker.clone());
        let failed = |source| LaunchError::system(&program, source);
        let mut descriptors = self.open_secrets().map_err(failed)?;
        let (command, options) = self.command()?;
        descriptors.extend(options);
        let (tell, told) = oneshot::channel();
        let span = tracing::Span::current();
        thread::Builder::new()
            .name("process-parent".into())
            .spawn(move || span.in_scope(|| be_parent(self, command, descriptors, tell)))
            .map_err(failed)?;
        let answer = told
            .await
            .map_err(|_| failed(io::Error::other("its thread is gone")))?;
        let child = answer?;

        let stdin = child.shared.stdin.clone().open(OwnedFd::from(child.stdin));
        let stdout = Stdout::open(OwnedFd::from(child.stdout));
        let process = Process::new(child.pid, marker, child.shared, child.lifeline);
        Ok(Started {
            process,
            stdin: stdin.map_err(failed)?,
            stdout: stdout.map_err(failed)?,
        })
    }
}

/// A child, as the thread that started it hands it over.
///
/// When it is dropped, the keeper of the child sees the lifeline go down and ends it.
struct Forked {
    pid: Pid,
    stdin: ChildStdin,
    stdout: ChildStdout,
    shared: Arc<Shared>,
    lifeline: Lifeline,
}

/// Starts the child, hands it over, and lives until it has ended.
fn be_parent(
    launch: Launch,
    command: Command,
    descriptors: Vec<OwnedFd>,
    tell: oneshot::Sender<Result<Forked, LaunchError>>,
) {
    match fork(launch, command, descriptors) {
        Ok((forked, exit_signal)) => {
            let pid = forked.pid;
            // If nobody waits for the child any more, it is dropped here.
            let _ = tell.send(Ok(forked));
            exit::wait_and_leave(pid);
            drop(exit_signal);
        }
        Err(error) => {
            let _ = tell.send(Err(error));
        }
    }
}

/// Starts the child under a keeper, which is told of its end when the pipe is closed.
fn fork(
    mut launch: Launch,
    mut command: Command,
    descriptors: Vec<OwnedFd>,
) -> Result<(Forked, io::PipeWriter), LaunchError> {
    let (program, directory) = (launch.program.clone(), launch.directory.clone());
    let failed = |source| LaunchError::system(&program, source);
    let inherited = launch.inherited.iter().map(inherited::copy);
    let inherited = inherited.chain(descriptors.into_iter().map(Ok)).collect::<io::Result<_>>();
    before_exec::prepare(&mut command, inherited.map_err(failed)?, Tie::Dies);
    let addressee = Addressee::of(&launch);
    let shared = Shared::new(launch.stderr_limit, addressee);
    let (lifeline, hang_up) = Lifeline::new().map_err(failed)?;
    // It goes before the error is told, if there will be no child.
    let folder = launch.folder.take();
    let (exit, exit_signal) = io::pipe().map_err(failed)?;
    // Before the child: it must not be without a keeper, should there be no more threads.
    let hand_over = Keeper::start(launch, shared.clone(), exit, hang_up).map_err(failed)?;

    let spawned = command.spawn();
    let mut child = spawned.map_err(|source| LaunchError::explain(&program, &directory, source))?;
    let pid = Pid::from_child(&child);
    let pipes = child.stdin.take().zip(child.stdout.take());
    if let Err(refused) = hand_over.send((child, folder)) {
        let (mut child, _folder) = refused.0;
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(io::Error::other("its keeper is gone")));
    }
    let (stdin, stdout) = pipes.ok_or_else(|| failed(io::Error::other("it has no pipes")))?;
    let forked = Forked {
        pid,
        stdin,
        stdout,
        shared,
        lifeline,
    };
    Ok((forked, exit_signal))
}
