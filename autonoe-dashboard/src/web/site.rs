//! [`Site`]: content of the web server.

use std::borrow::Cow;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::{Dashboard, DashboardSource, FleetIntent, RunFeed, RunIntent, RunPage};

/// Content of the web server: a run, a fleet, or both, on one page.
///
/// ```
/// use autonoe_dashboard::web::{Exposure, ServeLimits, Site, ViewToken};
/// use autonoe_dashboard::{RunFeed, RunPage};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let feed = RunFeed::new(RunPage::new("shop"));
/// let (intents, _performed) = tokio::sync::mpsc::channel(16);
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
///
/// let site = Site::new().run(&feed, intents);
/// let token = ViewToken::random()?;
/// let server = site.serve(listener, token, Exposure::Loopback, ServeLimits::default())?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
///
/// server.shutdown().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Site {
    pub(super) fleet: Option<FleetPart>,
    pub(super) run: Option<RunPart>,
    pub(super) style: Cow<'static, str>,
}

/// Fleet of a site.
pub(super) struct FleetPart {
    pub(super) source: Arc<dyn DashboardSource>,
    pub(super) intents: mpsc::Sender<FleetIntent>,
}

/// Run of a site.
pub(super) struct RunPart {
    pub(super) view: watch::Receiver<Arc<RunPage>>,
    pub(super) intents: mpsc::Sender<RunIntent>,
}

impl Site {
    /// Creates a site without content.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows a fleet. The user's requests are sent to `intents`.
    #[must_use]
    pub fn fleet(
        mut self,
        source: impl DashboardSource + 'static,
        intents: mpsc::Sender<FleetIntent>,
    ) -> Self {
        let source = Arc::new(source);
        self.fleet = Some(FleetPart { source, intents });
        self
    }

    /// Shows a run. The user's requests are sent to `intents`.
    #[must_use]
    pub fn run(mut self, feed: &RunFeed, intents: mpsc::Sender<RunIntent>) -> Self {
        let view = feed.watch();
        self.run = Some(RunPart { view, intents });
        self
    }

    /// Sets the style sheet of the documents of runs. It must be trusted.
    #[must_use]
    pub fn style(mut self, style: impl Into<Cow<'static, str>>) -> Self {
        self.style = style.into();
        self
    }

    /// Returns the newest snapshot of the fleet, if there is one.
    pub(super) fn newest_fleet(&self) -> Option<Arc<Dashboard>> {
        self.fleet.as_ref().map(|fleet| fleet.source.newest())
    }

    /// Returns the newest snapshot of the run, if there is one.
    pub(super) fn newest_run(&self) -> Option<Arc<RunPage>> {
        self.run.as_ref().map(|run| run.view.borrow().clone())
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site")
            .field("fleet", &self.fleet.is_some())
            .field("run", &self.run.is_some())
            .finish_non_exhaustive()
    }
}
