//! `autonoe session-host`.

use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::ProjectSessionHost;
use autonoe_harness::{PipedProgram, ProjectFiles, ServedSession, serve_session_host};
use autonoe_process::Marker;
use tokio::net::unix::pipe;

use super::signals;
use super::stage::Stage;
use crate::args::SessionHostArgs;
use crate::compose::{ChosenBackend, ModelsFile, sandbox_switch};
use crate::error::{CliError, whole};
use crate::exit_code::INTERRUPTED;
use crate::surroundings::Surroundings;

/// How long agents have to end when whoever asked is gone. Then they are killed.
const LEAVE: Duration = Duration::from_secs(12);

/// How long killing may take.
const KILL: Duration = Duration::from_secs(5);

/// Carries out one session, as `autonoe run` would, for whoever asks over the pipes.
pub(crate) fn session_host(
    args: &SessionHostArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    hand_on_marker(surroundings);
    let project = args.project.find(surroundings)?;
    project.specification()?;
    let agent = args.agent();
    let backend = ChosenBackend::find(agent.backend.as_ref(), Some(&project))?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let wanted = agent.wanted(surroundings);
    let built = backend.build(&project, args.mode(), wanted, &models, surroundings)?;
    let output = args.output();
    let mut stage = Stage::open(&agent, &output, &project, &models, surroundings);
    stage.warn_of(args.destructive(), &built.warnings);
    let files = Arc::new(ProjectFiles::new(project.root()));
    let configuration = stage.configuration(
        &agent,
        built.outer_sandbox,
        built.missing_server,
        surroundings,
    );
    let host = ProjectSessionHost::new(project, built.agents)
        .mode(args.mode())
        .sandbox(sandbox_switch(agent.no_sandbox, surroundings))
        .destructive(args.destructive())
        .configure(move |runner| configuration(runner).workspace(files.clone()));
    let served = stage.see_through(async {
        let (input, output) = pipes()?;
        tokio::select! {
            biased;
            served = serve_session_host(&host, input, output) => {
                served.map_err(|error| CliError::failure(whole(&error)))
            }
            // Whoever asked has died, or wants this to end: that is no cancellation.
            () = signals::asked() => Ok(ServedSession::LetGo),
        }
    })?;
    drop(host);
    // What was let go ends in threads of its own, and those end with the program.
    if autonoe_process::wait_for_shut_downs(LEAVE) > 0 {
        autonoe_process::kill_everything(KILL);
    }
    Ok(match served? {
        ServedSession::Answered => ExitCode::SUCCESS,
        ServedSession::LetGo => INTERRUPTED.into(),
    })
}

/// Has whoever started this find all that agents start, also when this program is killed.
fn hand_on_marker(surroundings: &Surroundings) {
    let value = surroundings.variable(PipedProgram::MARKER);
    if let Some(Ok(marker)) = value.map(|value| Marker::new(PipedProgram::MARKER, value)) {
        marker.hand_on();
    }
}

/// Opens standard input and output as what they must be.
fn pipes() -> Result<(pipe::Receiver, pipe::Sender), CliError> {
    let input = || pipe::Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?);
    let output = || pipe::Sender::from_owned_fd(io::stdout().as_fd().try_clone_to_owned()?);
    let no_pipes = |error: io::Error| {
        CliError::usage(format!("standard input and output must be pipes: {error}"))
            .with_hint("this command is started by workers, which ask over pipes")
    };
    Ok((input().map_err(no_pipes)?, output().map_err(no_pipes)?))
}
