//! Shows a made-up fleet in a terminal and in a browser at the same time.
//!
//! Prints the terminal view, and reads the page like a browser. With `--live`, it uses the whole
//! terminal until `q` is pressed, and the page can be opened: `cargo run -p autonoe-dashboard
//! --features terminal --example dashboard -- --live`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::CostUsd;
use autonoe_core::agent::CostTotal;
use autonoe_dashboard::terminal::{
    FullScreen, Key, Reaction, ViewInput, ViewState, draw, press, show,
};
use autonoe_dashboard::web::{ViewToken, serve};
use autonoe_dashboard::{
    AlertLine, AlertSeverity, Dashboard, DashboardFeed, DashboardSource, FleetAction, FleetIntent,
    FleetPhase, MemberRow, MemberRowStatus, Progress,
};
use futures::StreamExt;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let feed = DashboardFeed::new(fleet());
    let (intents, requests) = mpsc::channel(16);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let token = ViewToken::random()?;
    let server = serve(listener, token.clone(), feed.clone(), intents.clone())?;
    // The driver of the fleet carries out the user's intents, and pushes the results.
    let working = tokio::spawn(work(feed.clone(), requests));

    if std::env::args().any(|argument| argument == "--live") {
        feed.update(|fleet| fleet.objective = format!("Open {}", server.url()));
        let keys = crossterm::event::EventStream::new();
        let inputs = keys.filter_map(|event| async { ViewInput::from_event(&event.ok()?) });
        let mut screen = FullScreen::enter(std::io::stdout())?;
        show(screen.terminal(), &feed, Box::pin(inputs), &intents).await?;
    } else {
        // The user presses `p`.
        let view = ViewState::default();
        let (view, reaction) = press(Key::Char('p'), &feed.newest(), &view);
        let Reaction::Intent(intent) = reaction else {
            return Err("a running member can be paused".into());
        };
        let mut changes = feed.watch();
        intents.send(intent).await?;
        let is_paused = |fleet: &Arc<Dashboard>| fleet.members[0].status == MemberRowStatus::Paused;
        changes.wait_for(is_paused).await?;

        let mut terminal = Terminal::new(TestBackend::new(100, 16))?;
        terminal.draw(|frame| draw(frame, &feed.newest(), &view))?;
        println!("{}", terminal.backend());

        let mut page = TcpStream::connect(server.address()).await?;
        let request = format!(
            "GET /api/dashboard HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            server.address(),
            token.reveal()
        );
        page.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        page.read_to_string(&mut answer).await?;
        assert!(answer.contains(r#""status":"paused""#), "{answer}");
        println!("The page has the same: {} bytes of it.", answer.len());
    }
    working.abort();
    server.shutdown().await;
    Ok(())
}

fn fleet() -> Dashboard {
    let mut api = MemberRow::new("api", "codex");
    api.status = MemberRowStatus::Running;
    api.task = Some("Write the handlers".to_owned());
    api.progress = Progress::new(0.4);
    api.iteration = 2;
    api.cost = CostTotal::known(CostUsd::from_cents(120));
    let mut pages = MemberRow::new("pages", "gemini");
    pages.status = MemberRowStatus::Failed;
    pages.cost = CostTotal::unknown();
    // Text from an agent is displayed and never interpreted.
    pages.error = Some("\u{1b}[2J<script>alert('hello')</script>".to_owned());
    let mut fleet = Dashboard::new("Build the shop", "parallel").with_members(vec![api, pages]);
    fleet.phase = FleetPhase::Running;
    let at = jiff::Timestamp::UNIX_EPOCH;
    let alert = AlertLine::new(AlertSeverity::Critical, "stuck", "five times the same", at);
    fleet.alerts = vec![alert.member("pages")];
    fleet
}

/// Carries out intents, and makes some progress otherwise.
async fn work(feed: DashboardFeed, mut requests: mpsc::Receiver<FleetIntent>) {
    loop {
        let second = tokio::time::sleep(Duration::from_secs(1));
        let intent = tokio::select! {
            intent = requests.recv() => match intent {
                Some(intent) => Some(intent),
                None => return,
            },
            () = second => None,
        };
        feed.update(|fleet| {
            match intent {
                Some(intent) => apply(fleet, &intent),
                None => fleet.elapsed += Duration::from_secs(1),
            }
            for member in &mut fleet.members {
                if member.status == MemberRowStatus::Running {
                    member.progress = Progress::new(member.progress.share() + 0.01);
                }
            }
            fleet.update_totals();
        });
    }
}

fn apply(fleet: &mut Dashboard, intent: &FleetIntent) {
    let found = fleet
        .members
        .iter_mut()
        .find(|member| member.id == intent.member);
    let Some(member) = found else { return };
    match &intent.action {
        FleetAction::Pause => member.status = MemberRowStatus::Paused,
        FleetAction::Resume => member.status = MemberRowStatus::Running,
        FleetAction::Stop | FleetAction::Kill => member.status = MemberRowStatus::Stopped,
        FleetAction::Instruct { text } => member.log.push(format!("instruction: {text}")),
    }
}
