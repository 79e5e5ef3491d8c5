//! Display of a fleet that works: the live view, or lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_core::{Destructive, SandboxSwitch};
use autonoe_dashboard::terminal::{FullScreen, Key, ViewEnd, ViewInput, show};
use autonoe_dashboard::{Dashboard, DashboardFeed, FleetIntent};
use autonoe_harness::FleetHome;
use autonoe_telemetry::SpanExportLayer;
use crossterm::event::EventStream;
use futures::StreamExt;
use tokio::sync::{Notify, mpsc};

use crate::args::HarnessRunArgs;
use crate::commands::harness::intents::{ROOM, carry_out};
use crate::commands::harness::snapshot::Watcher;
use crate::commands::signals;
use crate::compose::destructive_warning;
use crate::present::{Detail, FleetLines, Presenter, Screen, start_logging, start_span_export};
use crate::surroundings::Surroundings;

/// What is said when somebody wants to leave.
const LEAVING: &str = "leaving; interrupt again to end at once";

/// Shows a fleet while it works.
pub(super) struct Showing {
    home: FleetHome,
    fleet: String,
    has_view: bool,
    presenter: Arc<Presenter>,
    lines: Arc<FleetLines>,
}

impl Showing {
    pub(super) fn open(
        args: &HarnessRunArgs,
        home: &FleetHome,
        fleet: &str,
        spans: Option<SpanExportLayer>,
        surroundings: &Surroundings,
    ) -> Self {
        let is_wanted = !(args.quiet || args.json || args.no_view);
        let has_view = args.view || (is_wanted && surroundings.is_interactive);
        let detail = match args.quiet {
            true => Detail::Quiet,
            false => Detail::Normal,
        };
        let screen = Screen::new(surroundings, false);
        let presenter = Arc::new(Presenter::new(screen.clone(), detail));
        match has_view {
            true => start_span_export(spans),
            false => start_logging(&screen, detail, spans),
        }
        Self {
            home: home.clone(),
            fleet: fleet.to_owned(),
            has_view,
            lines: Arc::new(FleetLines::new(presenter.clone())),
            presenter,
        }
    }

    /// Warns of what is odd before anything begins.
    pub(super) fn warn_of(
        &self,
        switch: SandboxSwitch,
        destructive: Destructive,
        backends: &[String],
    ) {
        let options = [switch.warning(), destructive_warning(destructive)];
        let backends = backends.iter().map(String::as_str);
        for warning in options.into_iter().flatten().chain(backends) {
            self.presenter.warn(warning);
        }
    }

    /// Prints a warning, unless only errors are printed.
    pub(super) fn warn(&self, message: &str) {
        self.presenter.warn(message);
    }

    /// Returns what shows a fleet line by line.
    pub(super) fn lines(&self) -> Arc<FleetLines> {
        self.lines.clone()
    }

    /// Shows the fleet until somebody wants to leave.
    pub(super) async fn show(&mut self) {
        let leave = Arc::new(Leave::default());
        let at_signal = leave.clone();
        let lines = self.lines.clone();
        let watched = async move {
            signals::watch_for(move || {
                lines.warn(LEAVING);
                at_signal.asked();
            })
            .await;
            // Where signals cannot be watched, the fleet is shown all the same.
            std::future::pending::<()>().await;
        };
        let viewed = async {
            if self.has_view {
                self.view(&leave).await;
            }
            // The fleet goes on without it.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = leave.wanted.notified() => {}
            () = watched => {}
            () = viewed => {}
        }
    }

    /// Shows the live view until somebody closes it.
    async fn view(&self, leave: &Arc<Leave>) {
        let feed = DashboardFeed::new(Dashboard::new("", ""));
        let (intents, wanted) = mpsc::channel::<FleetIntent>(ROOM);
        let watcher = Watcher::new(&self.home, &self.fleet).show_in(feed.clone());
        let lines = self.lines.clone();
        let carried_out = carry_out(self.home.clone(), self.fleet.clone(), wanted, move |why| {
            lines.warn(why);
        });
        let mut screen = match FullScreen::enter(std::io::stderr()) {
            Ok(screen) => screen,
            Err(error) => {
                self.lines.warn(&format!("there is no live view: {error}"));
                return;
            }
        };
        self.lines.cover();
        let interrupted = leave.clone();
        let inputs = EventStream::new().filter_map(move |event| {
            let input = event.ok().and_then(|event| ViewInput::of(&event));
            // A terminal that hands over every key sends no signal for this one.
            let input = match input {
                Some(ViewInput::Key(Key::Interrupt)) => {
                    interrupted.asked();
                    None
                }
                input => input,
            };
            std::future::ready(input)
        });
        let shown = show(screen.terminal(), &feed, Box::pin(inputs), &intents);
        let ended = tokio::select! {
            ended = shown => ended,
            () = watcher => Ok(ViewEnd::InputEnded),
            () = carried_out => Ok(ViewEnd::InputEnded),
        };
        drop(screen);
        self.lines.uncover();
        if let Err(error) = ended {
            self.lines.warn(&format!("the live view failed: {error}"));
        }
    }

    /// Lets everybody write again.
    pub(super) fn close(&self) {
        self.lines.uncover();
    }
}

/// Whether somebody wants to leave.
#[derive(Default)]
struct Leave {
    wanted: Notify,
    is_asked: AtomicBool,
}

impl Leave {
    /// Takes note that it was asked for. To ask twice ends the program at once.
    fn asked(&self) {
        if self.is_asked.swap(true, Ordering::Relaxed) {
            signals::at_once();
        }
        self.wanted.notify_one();
    }
}
