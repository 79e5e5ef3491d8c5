//! A child that goes on when this program ends.

use std::future::Future;
use std::io;
use std::process::Stdio;
use std::thread;

use tokio::sync::{oneshot, watch};

use crate::before_exec::{self, Tie};
use crate::{Exit, Launch, LaunchError, inherited};

/// A child that goes on when this program ends, made by [`Launch::start_outliving`].
///
/// Dropping it ends nothing. Who comes later finds it by its
/// [`ProcessIdentity`](crate::ProcessIdentity), and ends it by
/// [`kill_tree`](crate::ProcessIdentity::kill_tree).
#[derive(Debug)]
pub struct Outliving {
    pid: u32,
    exit: watch::Receiver<Option<Exit>>,
}

impl Outliving {
    /// Returns the number of the process, which is also that of its group and session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process has ended. Its number may be another's then.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut exit = self.exit.clone();
        async move {
            let ended = exit.wait_for(Option::is_some).await;
            ended.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
    }
}

impl Launch {
    /// Starts the program so that it goes on when this one ends, however it does.
    ///
    /// It has no pipes: its input is empty, and what it says is not heard. Nothing is sent to it
    /// when this program dies, and no folder is removed with it. The marker finds what it starts.
    ///
    /// # Errors
    ///
    /// The program cannot be started; nothing of it runs.
    pub async fn start_outliving(mut self) -> Result<Outliving, LaunchError> {
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
        before_exec::prepare(&mut command, inherited.map_err(failed)?, Tie::Outlives);
        let (tell, told) = oneshot::channel();
        let (ended, exit) = watch::channel(None);
        let start = move || match command.spawn() {
            Err(error) => {
                let _ = tell.send(Err(error));
            }
            Ok(mut child) => {
                let _ = tell.send(Ok(child.id()));
                // Somebody has to take notice of its end, as long as there is somebody.
                let exit = child.wait().map_or(Exit::Unknown, exit_of);
                ended.send_replace(Some(exit));
            }
        };
        thread::Builder::new()
            .name("process-waiter".into())
            .spawn(start)
            .map_err(failed)?;
        let gone = || io::Error::other("its thread is gone");
        let pid = told.await.unwrap_or_else(|_| Err(gone()));
        let pid = pid.map_err(|source| LaunchError::explain(&program, &directory, source))?;
        Ok(Outliving { pid, exit })
    }
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().map(Exit::Code);
    code.or(status.signal().map(Exit::Signal))
        .unwrap_or(Exit::Unknown)
}
