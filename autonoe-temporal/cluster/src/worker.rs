//! The command `autonoe-cluster worker`: executes sessions on this host.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_app::telemetry::Telemetry;
use autonoe_app::text::sanitize_line;
use autonoe_app::{AppError, Env, ModelsFile, error_chain};
use autonoe_process::ProcessRunner;
use autonoe_temporal::TemporalWorker;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::fleet_work::MERGE_JOB;
use crate::journals::Journals;
use crate::logging;
use crate::merge_job::MergeJob;
use crate::output::Output;
use crate::projects::Projects;
use crate::remotes::Remotes;
use crate::settings::WorkerSettings;
use crate::unreachable;

/// Executes sessions until a stop signal arrives.
pub(crate) async fn work(
    settings: WorkerSettings,
    quiet: bool,
    output: &Output,
    env: Env,
) -> Result<(), AppError> {
    let models = ModelsFile::default();
    let instance = Some(settings.worker.host.clone());
    let telemetry = Telemetry::start(&models, &env.working_dir, &env, None, instance);
    let telemetry = telemetry.unwrap_or_else(|error| {
        output.note(&format!("warning: telemetry is off: {error}"));
        Telemetry::default()
    });
    logging::start(quiet, telemetry.spans());
    for warning in telemetry.warnings() {
        output.note(&format!("warning: {warning}"));
    }
    let projects = Arc::new(projects(&settings, &telemetry, env)?);
    if let Err(failure) = projects.check().await {
        let problem = format!("sessions cannot run here: {failure}");
        // Without a backend option, each project selects its own backend.
        if settings.agent.backend.is_some() {
            return Err(AppError::usage(problem));
        }
        output.note(&format!("warning: {problem}"));
    }
    let ready = format!(
        "{} takes runs from the queue {} at {}, {} sessions at once",
        settings.worker.host, settings.server.queue, settings.server.address, settings.worker.slots
    );
    let worker = TemporalWorker::connect(settings.server, settings.worker)
        .await
        .map_err(|error| unreachable(&error))?
        .journals(Arc::new(Journals::new(projects.clone())))
        .job(MERGE_JOB, Arc::new(MergeJob::new(projects.clone())))
        .sessions(projects);
    output.note(&ready);
    let (stopped, signal) = (CancellationToken::new(), stop_signal()?);
    let stop = stopped.clone();
    tokio::spawn(async move {
        signal.await;
        stop.cancel();
    });
    let worked = worker.run(stopped).await;
    if let Some(warning) = telemetry.finish() {
        output.note(&format!("warning: {warning}"));
    }
    worked.map_err(|error| AppError::failure(error_chain(&error)))
}

fn projects(
    settings: &WorkerSettings,
    telemetry: &Telemetry,
    env: Env,
) -> Result<Projects, AppError> {
    let commands = ProcessRunner::unconfined("/").envs(env.environment.clone());
    let remotes = settings.remote_root.as_deref().map(|root| {
        let (base, projects) = (&settings.base_branch, &settings.project_root);
        Remotes::below(root, base, projects, commands)
            .map_err(|error| AppError::usage(error_chain(&error)))
    });
    // Each warning is printed once, not for each session.
    let known = Mutex::new(BTreeSet::new());
    let on_warning = move |warning: &str| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.insert(warning.to_owned()) {
            tracing::warn!("{}", sanitize_line(warning));
        }
    };
    Ok(Projects {
        root: settings.project_root.clone(),
        remotes: remotes.transpose()?,
        agent: settings.agent.clone(),
        env,
        telemetry: telemetry.sessions(),
        on_warning: Arc::new(on_warning),
    })
}

/// Waits for a stop signal. Signals are registered by this call.
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()>, AppError> {
    let listen = |kind| {
        signal(kind).map_err(|error| AppError::failure(format!("signals cannot be read: {error}")))
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}
