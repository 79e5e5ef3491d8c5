//! [`Process`] and [`DetachedProcess`], the handles of child processes.

use std::future::Future;
use std::process::Stdio;
use std::sync::Arc;
use std::{io, thread};

use rustix::process::Pid;
use tokio::sync::{oneshot, watch};

use crate::before_exec::{self, LifetimePolicy};
use crate::keeper::{Lifeline, Shared};
use crate::{
    EndedBy, Exit, Launch, LaunchError, Marker, ShutdownPolicy, ShutdownReport, inherited,
};

/// A child process, created by [`Launch::start`](crate::Launch::start).
///
/// End it with [`shutdown`](Self::shutdown). If it is dropped instead, also in a panic or after the
/// runtime has ended, a thread of its own shuts the process down with the policy of the launch; see
/// [`wait_for_shutdowns`](crate::wait_for_shutdowns).
///
/// Until then the system does not reuse the process ID of the child, even after its exit: no signal
/// reaches another process by mistake.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    marker: Marker,
    shared: Arc<Shared>,
    lifeline: Lifeline,
}

impl Process {
    pub(crate) fn new(pid: Pid, marker: Marker, shared: Arc<Shared>, lifeline: Lifeline) -> Self {
        Self {
            pid,
            marker,
            shared,
            lifeline,
        }
    }

    /// Returns the process ID, which is also the ID of its group and session.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Returns the marker of the process and of everything that it starts.
    pub fn marker(&self) -> &Marker {
        &self.marker
    }

    /// Returns the exit of the process, or `None` if it is alive.
    pub fn try_exit(&self) -> Option<Exit> {
        *self.shared.exit.borrow()
    }

    /// Waits until the process has ended.
    ///
    /// By then its standard error was read to the end. Its tools may still be alive.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut exit = self.shared.exit.subscribe();
        async move {
            let ended = exit.wait_for(Option::is_some).await;
            ended.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
    }

    /// Returns the end of the standard error that the process wrote so far.
    ///
    /// Standard error is read continuously; the last 64 KiB are kept.
    pub fn stderr_tail(&self) -> String {
        self.shared.stderr().text()
    }

    /// Ends the process by the steps of `policy`, and kills the remaining processes.
    ///
    /// The shutdown continues if the future is dropped.
    pub async fn shutdown(self, policy: ShutdownPolicy) -> ShutdownReport {
        let report = self.lifeline.end(policy).await;
        // Only a bug ends the keeper without a report, and that is not a success.
        report.unwrap_or_else(|_| ShutdownReport {
            exit: None,
            ended_by: EndedBy::Nothing,
            killed: Vec::new(),
            left: self.marker.processes(),
            stderr_tail: self.shared.stderr().text(),
        })
    }
}

/// A child that keeps running when this program ends, created by [`Launch::start_detached`].
///
/// Dropping it does not end the process. A later program finds the process by its
/// [`ProcessIdentity`](crate::ProcessIdentity), and ends it with
/// [`kill_tree`](crate::ProcessIdentity::kill_tree).
#[derive(Debug)]
pub struct DetachedProcess {
    pid: u32,
    exit: watch::Receiver<Option<Exit>>,
}

impl DetachedProcess {
    /// Returns the process ID, which is also the ID of its group and session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process has ended. Its process ID may be reused then.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut exit = self.exit.clone();
        async move {
            let ended = exit.wait_for(Option::is_some).await;
            ended.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
    }
}

impl Launch {
    /// Starts the program so that it keeps running when this one ends, for whatever reason.
    ///
    /// It has no pipes: its input is empty, and its output is discarded. It gets no signal when
    /// this program dies, and no folder is removed with it. The marker finds the processes that it
    /// starts.
    ///
    /// # Errors
    ///
    /// The program cannot be started. None of its processes runs.
    pub async fn start_detached(mut self) -> Result<DetachedProcess, LaunchError> {
        let (program, directory) = (self.program.clone(), self.directory.clone());
        let failed = |source| LaunchError::system(&program, source);
        let secrets = self.open_secrets().map_err(failed)?;
        let (mut command, options) = self.command()?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let inherited = self.inherited.iter().map(inherited::copy);
        let opened = secrets.into_iter().chain(options).map(Ok);
        let inherited = inherited.chain(opened).collect::<io::Result<_>>();
        before_exec::prepare(
            &mut command,
            inherited.map_err(failed)?,
            LifetimePolicy::Detached,
        );
        let (reply, started) = oneshot::channel();
        let (ended, exit) = watch::channel(None);
        let start = move || match command.spawn() {
            Err(error) => {
                let _ = reply.send(Err(error));
            }
            Ok(mut child) => {
                let _ = reply.send(Ok(child.id()));
                // As long as this program runs, it must reap the child.
                let exit = child.wait().map_or(Exit::Unknown, exit_of);
                ended.send_replace(Some(exit));
            }
        };
        thread::Builder::new()
            .name("process-waiter".into())
            .spawn(start)
            .map_err(failed)?;
        let thread_ended = || io::Error::other("the thread that starts it has ended");
        let pid = started.await.unwrap_or_else(|_| Err(thread_ended()));
        let pid = pid.map_err(|source| LaunchError::from_system(&program, &directory, source))?;
        Ok(DetachedProcess { pid, exit })
    }
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().map(Exit::Code);
    code.or(status.signal().map(Exit::Signal))
        .unwrap_or(Exit::Unknown)
}
