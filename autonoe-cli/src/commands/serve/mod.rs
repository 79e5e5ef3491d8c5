//! `autonoe serve`: shows the run and the fleet of a project in a browser.

mod live_run;

use std::net::IpAddr;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use autonoe_app::text::sanitize_line;
use autonoe_core::project::{OperatorRequest, RequestFolder, RunLock};
use autonoe_core::{Project, RunId};
use autonoe_dashboard::web::{Exposure, ServeLimits, Site, ViewToken};
use autonoe_dashboard::{Dashboard, DashboardFeed, RunFeed, RunIntent, RunPageAction};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use self::live_run::LiveRun;
use super::harness::{QUEUE_LEN, check_fleet, show_fleet};
use super::runtime::block_on;
use super::signals;
use crate::args::ServeArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::report::STYLE;

/// Poll interval of the files of a run.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Serves the page until it is interrupted.
pub(crate) fn serve(args: &ServeArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    if args.listen.is_loopback() && !args.hosts.is_empty() {
        return Err(CliError::usage(
            "--host needs --listen: on this machine, the page has the name localhost",
        ));
    }
    block_on(async {
        if let Some(name) = &args.fleet {
            check_fleet(&project, name).await?;
        }
        let run = follow(project.clone())?;
        let fleet = DashboardFeed::new(Dashboard::new("", ""));
        let (run_intents, run_intent_receiver) = mpsc::channel(QUEUE_LEN);
        let (fleet_intents, fleet_intent_receiver) = mpsc::channel(QUEUE_LEN);
        let listener = listen(args.listen, args.port).await?;
        let exposure = if args.listen.is_loopback() {
            Exposure::Loopback
        } else {
            Exposure::Network {
                names: args.hosts.clone(),
            }
        };
        let token = ViewToken::random().map_err(|error| CliError::failure(error.to_string()))?;
        let served = Site::new()
            .run(&run, run_intents)
            .fleet(fleet.clone(), fleet_intents)
            .style(STYLE)
            .serve(listener, token, exposure, ServeLimits::default());
        let server = served.map_err(|error| CliError::failure(error.to_string()))?;
        let url = match args.hosts.first() {
            Some(host) => server.url_for(host),
            None => server.url(),
        };
        env.print(&format!("{url}\n"))?;
        env.print_note(
            "anyone with this address can watch and control the run; press Ctrl-C to stop the server",
        );
        if !args.listen.is_loopback() {
            env.print_note(
                "warning: the connection is not encrypted, so anyone with access to the network can \
                 read the token and control the run; prefer an SSH tunnel or a VPN",
            );
        }
        let warn = |message: &str| env.print_note(&format!("warning: {}", sanitize_line(message)));
        tokio::select! {
            () = signals::wait_for_stop() => {}
            () = perform_run_intents(&project, &run, run_intent_receiver, warn) => {}
            () = show_fleet(&project, args.fleet.as_deref(), fleet, fleet_intent_receiver, warn) => {}
        }
        server.shutdown().await;
        Ok(ExitCode::SUCCESS)
    })
}

/// Opens the port of a server; 0 is a free one.
pub(super) async fn listen(address: IpAddr, port: u16) -> Result<TcpListener, CliError> {
    let listener = TcpListener::bind((address, port)).await;
    listener.map_err(|error| {
        let message = format!("port {port} of {address} cannot be used: {error}");
        CliError::failure(message).with_hint("omit --port to use a free port")
    })
}

/// Starts a thread that follows the newest run of `project`, so that a large journal does not delay
/// responses. The thread ends with the process.
fn follow(project: Project) -> Result<RunFeed, CliError> {
    let mut live = LiveRun::new(project);
    let feed = RunFeed::new(live.poll(Timestamp::now()));
    let pushed = feed.clone();
    thread::Builder::new()
        .name("live-run".to_owned())
        .spawn(move || {
            loop {
                thread::sleep(POLL_INTERVAL);
                pushed.push(live.poll(Timestamp::now()));
            }
        })
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
    Ok(feed)
}

/// Sends the actions of operators to the process of the run until the sender is dropped.
///
/// Errors are reported to `warn`.
async fn perform_run_intents(
    project: &Project,
    feed: &RunFeed,
    mut intents: mpsc::Receiver<RunIntent>,
    warn: impl Fn(&str),
) {
    while let Some(intent) = intents.recv().await {
        let action = intent.action.name();
        let run = feed.watch().borrow().run.clone();
        if let Err(error) = send(project, run, intent) {
            warn(&format!("cannot {action} the run: {error}"));
        }
    }
}

fn send(project: &Project, run: Option<String>, intent: RunIntent) -> Result<(), CliError> {
    let not_running = || CliError::failure("no run is in progress");
    let run = RunId::new(run.ok_or_else(not_running)?);
    // Checked again, because the view may be older than the end of the process.
    let held = RunLock::held(project)?.ok_or_else(not_running)?;
    if !held.survivors().is_empty() {
        return Err(CliError::failure(held.to_string()));
    }
    let holder = held.holder.ok_or_else(not_running)?;
    let request = match intent.action {
        RunPageAction::Pause => OperatorRequest::Pause,
        RunPageAction::Resume => OperatorRequest::Resume,
        RunPageAction::Stop => OperatorRequest::Stop,
        RunPageAction::Instruct => OperatorRequest::Instruct { text: intent.text },
    };
    let sent = RequestFolder::new(project).send(&holder, &run, request, Timestamp::now());
    sent.map_err(|error| CliError::failure(format!("the request cannot be written: {error}")))?;
    Ok(())
}
