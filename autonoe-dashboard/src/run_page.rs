//! [`RunPage`]: snapshot of one run for the browser view.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Snapshot of one run for the browser view.
///
/// `autonoe serve` builds it from the journal and the other files of a project. The page shows the
/// document below the state and the current activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// Version of the document. The page loads the document again when it changes.
    pub version: u64,
    /// Name of the project.
    pub title: String,
    /// ID of the run, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// State of the run.
    pub phase: RunPagePhase,
    /// Explanation of the state, or a problem with the files of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Current activity, as pairs of a name and a text.
    #[serde(default)]
    pub now: Vec<(String, String)>,
    /// Actions that the run accepts now.
    #[serde(default)]
    pub actions: Vec<RunPageAction>,
    /// HTML document with the details. The page copies each element with an attribute `data-part`.
    #[serde(skip)]
    pub document: Arc<str>,
}

impl RunPage {
    /// Creates the view of a project without a run.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            version: 0,
            title: title.into(),
            run: None,
            phase: RunPagePhase::Waiting,
            note: None,
            now: Vec::new(),
            actions: Vec::new(),
            document: "<!DOCTYPE html><title>Run</title>".into(),
        }
    }
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunPagePhase {
    /// There is no run yet.
    Waiting,
    /// Agents are at work.
    Running,
    /// A pause was requested and takes effect after the session.
    Pausing,
    /// It starts no session until it is resumed.
    Paused,
    /// A stop was requested.
    Stopping,
    /// It succeeded.
    Done,
    /// It ended without success.
    Stopped,
    /// Its process ended before the run did.
    Interrupted,
}

impl RunPagePhase {
    /// Returns the name that the page shows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Interrupted => "unfinished",
        }
    }
}

/// Action on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunPageAction {
    /// Pauses before the next session.
    Pause,
    /// Resumes after a pause.
    Resume,
    /// Cancels the run, as Ctrl-C does.
    Stop,
    /// Sends a message to the agent.
    Instruct,
}

impl RunPageAction {
    /// Returns the name that URLs and messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
            Self::Instruct => "instruct",
        }
    }
}

/// A user's request to act on a run. The view only emits it; the caller of the view performs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunIntent {
    /// Requested action.
    pub action: RunPageAction,
    /// Text of a message; empty for other actions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Source of snapshots of one run. Clones share one source.
///
/// ```
/// use autonoe_dashboard::{RunFeed, RunPage, RunPagePhase};
///
/// let feed = RunFeed::new(RunPage::new("shop"));
/// let watch = feed.watch();
///
/// feed.push(RunPage { phase: RunPagePhase::Running, ..RunPage::new("shop") });
///
/// assert_eq!(watch.borrow().phase, RunPagePhase::Running);
/// ```
#[derive(Clone, Debug)]
pub struct RunFeed {
    sender: watch::Sender<Arc<RunPage>>,
}

impl RunFeed {
    /// Creates a feed with a first snapshot.
    pub fn new(first: RunPage) -> Self {
        Self {
            sender: watch::Sender::new(Arc::new(first)),
        }
    }

    /// Replaces the snapshot. An equal snapshot does not notify watchers.
    pub fn push(&self, view: RunPage) {
        self.sender.send_if_modified(|current| {
            let is_new = **current != view;
            if is_new {
                *current = Arc::new(view);
            }
            is_new
        });
    }

    /// Returns a receiver with the newest snapshot that is notified of changes.
    pub fn watch(&self) -> watch::Receiver<Arc<RunPage>> {
        self.sender.subscribe()
    }
}
