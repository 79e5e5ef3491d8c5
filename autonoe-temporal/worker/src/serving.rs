//! Carries out runs until it is told to stop.

use std::env;
use std::io::{self, Write};
use std::sync::Arc;

use autonoe_process::Commands;
use autonoe_temporal::{TemporalWorker, WorkerSettings};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::WorkerProblem;
use crate::journals::Journals;
use crate::projects::Projects;
use crate::remotes::Remotes;
use crate::settings::Settings;

/// Carries out runs until a person or the system asks to stop.
pub(crate) async fn serve(settings: Settings) -> Result<(), WorkerProblem> {
    let projects = Arc::new(projects(&settings)?);
    if let Err(failure) = projects.try_out().await {
        // Without arguments each project says by whom its sessions are done.
        if !settings.arguments.is_empty() {
            return Err(WorkerProblem::Trial(failure));
        }
        let doubt = format!("warning: sessions may not be carried out here: {failure}\n");
        let _ = io::stderr().write_all(doubt.as_bytes());
    }
    let (host, queue) = (settings.host(), settings.server.queue.clone());
    let ready = format!(
        "{host} takes runs from {queue} at {}, {} at once\n",
        settings.server.address, settings.slots
    );
    let worker = WorkerSettings::on(host)
        .slots(settings.slots)
        .farewell(settings.farewell);
    let worker = TemporalWorker::connect(settings.server, worker).await?;
    let worker = worker
        .journals(Arc::new(Journals::of(projects.clone())))
        .sessions(projects);
    // Nothing can be done about a screen that is gone.
    let _ = io::stderr().write_all(ready.as_bytes());
    let stopped = CancellationToken::new();
    let asked = asked_to_stop()?;
    let working = worker.run(stopped.clone());
    let stopping = async {
        asked.await;
        stopped.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        worked = working => Ok(worked?),
        () = stopping => Ok(()),
    }
}

fn projects(settings: &Settings) -> Result<Projects, WorkerProblem> {
    let environment = env::vars_os().collect();
    let commands = Commands::unconfined("/").envs(env::vars_os());
    let remotes = settings
        .remote_root
        .as_deref()
        .map(|root| Remotes::below(root, &settings.base_branch, commands))
        .transpose()?;
    Ok(Projects {
        root: settings.root()?,
        remotes,
        autonoe: settings.autonoe()?,
        arguments: settings.arguments.clone(),
        environment,
    })
}

/// Listens for signals that ask to stop.
fn asked_to_stop() -> Result<impl Future<Output = ()>, WorkerProblem> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(WorkerProblem::Runtime)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(WorkerProblem::Runtime)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
