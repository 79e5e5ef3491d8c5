//! Display of a running fleet: the live view, or lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_app::destructive_warning;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::project::SandboxSwitch;
use autonoe_dashboard::terminal::{FullScreen, Key, ViewEnd, ViewInput, show};
use autonoe_dashboard::{Dashboard, DashboardFeed, FleetIntent};
use autonoe_harness::FleetHome;
use autonoe_telemetry::SpanExportLayer;
use crossterm::event::EventStream;
use futures::StreamExt;
use tokio::sync::{Notify, mpsc};

use crate::args::HarnessRunArgs;
use crate::cli_env::CliEnv;
use crate::commands::harness::serve::{QUEUE_LEN, perform_intents};
use crate::commands::harness::snapshot::Watcher;
use crate::commands::signals;
use crate::present::{Detail, FleetLines, Presenter, Screen, start_logging, start_span_export};

/// Message at the first interrupt.
const LEAVING: &str = "leaving; interrupt again to exit immediately";

/// Displays a running fleet.
pub(super) struct FleetDisplay {
    home: FleetHome,
    fleet: String,
    has_view: bool,
    presenter: Arc<Presenter>,
    lines: Arc<FleetLines>,
}

impl FleetDisplay {
    pub(super) fn open(
        args: &HarnessRunArgs,
        home: &FleetHome,
        fleet: &str,
        spans: Option<SpanExportLayer>,
        env: &CliEnv,
    ) -> Self {
        let is_view_allowed = !(args.quiet || args.json || args.no_view);
        let has_view = args.view || (is_view_allowed && env.is_interactive);
        let detail = if args.quiet {
            Detail::Quiet
        } else {
            Detail::Normal
        };
        let screen = Screen::new(env, false);
        let presenter = Arc::new(Presenter::new(screen.clone(), detail));
        if has_view {
            start_span_export(spans);
        } else {
            start_logging(&screen, detail, spans);
        }
        Self {
            home: home.clone(),
            fleet: fleet.to_owned(),
            has_view,
            lines: Arc::new(FleetLines::new(presenter.clone())),
            presenter,
        }
    }

    /// Prints the warnings of the options and the backends, before any member starts.
    pub(super) fn print_warnings(
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

    /// Returns the observer that prints the events of the fleet as lines.
    pub(super) fn lines(&self) -> Arc<FleetLines> {
        self.lines.clone()
    }

    /// Displays the fleet until the operator interrupts.
    pub(super) async fn show(&mut self) {
        let leave = Arc::new(Leave::default());
        let at_signal = leave.clone();
        let lines = self.lines.clone();
        let watched = async move {
            signals::watch_for(move || {
                lines.warn(LEAVING);
                at_signal.request();
            })
            .await;
            // Without signal handlers, the fleet is displayed anyway.
            std::future::pending::<()>().await;
        };
        let viewed = async {
            if self.has_view {
                self.view(&leave).await;
            }
            // Closing the view does not end the fleet.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = leave.requested.notified() => {}
            () = watched => {}
            () = viewed => {}
        }
    }

    /// Shows the live view until the operator closes it.
    async fn view(&self, leave: &Arc<Leave>) {
        let feed = DashboardFeed::new(Dashboard::new("", ""));
        let (intents, intent_receiver) = mpsc::channel::<FleetIntent>(QUEUE_LEN);
        let watcher = Watcher::new(&self.home, &self.fleet).push_to(feed.clone());
        let lines = self.lines.clone();
        let performed = perform_intents(
            self.home.clone(),
            || Some(self.fleet.clone()),
            intent_receiver,
            move |reason| {
                lines.warn(reason);
            },
        );
        let mut screen = match FullScreen::enter(std::io::stderr()) {
            Ok(screen) => screen,
            Err(error) => {
                self.lines
                    .warn(&format!("the live view cannot start: {error}"));
                return;
            }
        };
        self.lines.suspend();
        let interrupted = leave.clone();
        let inputs = EventStream::new().filter_map(move |event| {
            let input = event.ok().and_then(|event| ViewInput::from_event(&event));
            // A terminal in raw mode sends no signal for Ctrl-C.
            let input = match input {
                Some(ViewInput::Key(Key::Interrupt)) => {
                    interrupted.request();
                    None
                }
                input => input,
            };
            std::future::ready(input)
        });
        let view = show(screen.terminal(), &feed, Box::pin(inputs), &intents);
        let ended = tokio::select! {
            ended = view => ended,
            () = watcher => Ok(ViewEnd::InputEnded),
            () = performed => Ok(ViewEnd::InputEnded),
        };
        drop(screen);
        self.lines.resume();
        if let Err(error) = ended {
            self.lines.warn(&format!("the live view failed: {error}"));
        }
    }

    /// Ends the live view, so that lines are printed again.
    pub(super) fn close(&self) {
        self.lines.resume();
    }
}

/// Interrupts of the operator.
#[derive(Default)]
struct Leave {
    requested: Notify,
    is_requested: AtomicBool,
}

impl Leave {
    /// Records an interrupt. The second one ends the program immediately.
    fn request(&self) {
        if self.is_requested.swap(true, Ordering::Relaxed) {
            signals::exit_immediately();
        }
        self.requested.notify_one();
    }
}
