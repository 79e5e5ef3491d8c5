//! What a page is made of.

use autonoe_core::{
    DeliverableStatus, FileDeliverableRepository, Journal, Project, RunLock, RunStory, RunTimeline,
    WhyStopped,
};

use crate::error::{CliError, whole};

/// What a page is made of.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// What the project is called: the name of its directory.
    pub(super) project: String,
    pub(super) timeline: RunTimeline,
    pub(super) standing: Standing,
    pub(super) deliverables: Deliverables,
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It did what it was for.
    Done(String),
    /// It ended before.
    Stopped(String),
    /// It is under way.
    UnderWay,
    /// Its process was gone before it came to its end.
    Interrupted(String),
}

/// The deliverables of the page.
#[derive(Clone, Debug)]
pub(super) enum Deliverables {
    /// All that the ledger has now.
    Ledger(Vec<Line>),
    /// Those that the run changed, by its journal: the ledger has moved on, or cannot be read.
    Journal { lines: Vec<Line>, why: String },
}

/// One deliverable.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) criteria: Vec<String>,
    pub(super) status: DeliverableStatus,
    pub(super) deprecated: bool,
    pub(super) verified: bool,
}

impl Facts {
    /// Gathers what `project` knows about the run of `story`.
    pub(crate) fn gather(
        project: &Project,
        journal: &Journal,
        stories: &[RunStory],
        story: &RunStory,
    ) -> Result<Self, CliError> {
        let timeline = RunTimeline::of(journal, &story.run)
            .ok_or_else(|| CliError::failure("the journal has nothing about this run"))?;
        let is_newest = stories.last().map(|newest| &newest.run) == Some(&story.run);
        // Only the newest run can be under way.
        let is_under_way = is_newest && RunLock::is_held(project)?;
        let standing = Standing::of(story.why_did_it_stop(), is_under_way);
        let deliverables = match is_newest {
            true => from_ledger(project, &timeline),
            false => Deliverables::Journal {
                lines: from_journal(&timeline),
                why: "Later runs have changed the ledger since. These are the deliverables that \
                      this run changed, as it left them."
                    .to_owned(),
            },
        };
        let name = project.root().file_name().unwrap_or_default();
        Ok(Self {
            project: match name.is_empty() {
                true => "project".to_owned(),
                false => name.to_string_lossy().into_owned(),
            },
            timeline,
            standing,
            deliverables,
        })
    }
}

impl Standing {
    fn of(why: &WhyStopped, is_under_way: bool) -> Self {
        match why {
            WhyStopped::Ended(report) if report.exit.is_success() => {
                Self::Done(report.exit.to_string())
            }
            WhyStopped::Ended(report) => Self::Stopped(report.exit.to_string()),
            WhyStopped::FlowEnded(report) if report.exit.is_success() => {
                Self::Done(report.exit.to_string())
            }
            WhyStopped::FlowEnded(report) => Self::Stopped(report.exit.to_string()),
            _ if is_under_way => Self::UnderWay,
            why => Self::Interrupted(why.to_string()),
        }
    }

    /// Says it in a word or two.
    pub(super) fn headline(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Stopped(_) => "stopped",
            Self::UnderWay => "under way",
            Self::Interrupted(_) => "interrupted",
        }
    }
}

fn from_ledger(project: &Project, timeline: &RunTimeline) -> Deliverables {
    let repository = FileDeliverableRepository::at(project.status_path());
    let state = match repository.load_now() {
        Ok(Some(snapshot)) => snapshot.state,
        Ok(None) => return Deliverables::Ledger(Vec::new()),
        Err(error) => {
            return Deliverables::Journal {
                lines: from_journal(timeline),
                why: format!(
                    "The ledger could not be read ({}). These are the deliverables that this run \
                     changed, as it left them.",
                    whole(&error)
                ),
            };
        }
    };
    let lines = state.ledger.deliverables().iter().map(|deliverable| Line {
        id: deliverable.id().to_string(),
        description: deliverable.description().to_owned(),
        criteria: deliverable.acceptance_criteria().to_vec(),
        status: deliverable.status(),
        deprecated: !deliverable.is_active(),
        verified: state.verification.is_verified(deliverable.id()),
    });
    Deliverables::Ledger(lines.collect())
}

/// Returns what a run changed, in the order of the first change.
fn from_journal(timeline: &RunTimeline) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for entry in &timeline.changes {
        let change = &entry.change;
        let line = Line {
            id: change.id.to_string(),
            description: change.description.clone(),
            criteria: Vec::new(),
            status: change.status,
            deprecated: false,
            verified: false,
        };
        match places.get(&change.id) {
            Some(&place) => lines[place] = line,
            None => {
                places.insert(&change.id, lines.len());
                lines.push(line);
            }
        }
    }
    lines
}
