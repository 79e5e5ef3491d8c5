//! One of the lives of a run.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::{
    Durability, FileJournal, Journal, JournalError, JournalLine, Project, RunAction, RunId,
    RunJournal,
};
use jiff::Timestamp;

use crate::{ScriptedAgents, SessionScript};

/// When the first life of a run begins: midnight of 1 January 2026, UTC, as in
/// [`VirtualClock::new`](crate::VirtualClock::new).
const BEGINNING: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// One of the lives of a run: undisturbed, to be killed, or resumed.
///
/// [`CrashPoints`](crate::CrashPoints) makes the run anew for each.
#[derive(Debug)]
pub struct RunAttempt {
    project: Project,
    begins_at: Timestamp,
    first_session: u32,
    lost_session: Option<u32>,
    agents: Mutex<Vec<Arc<ScriptedAgents>>>,
}

impl RunAttempt {
    /// Prepares the first life of a run.
    pub(super) fn first(project: &Project) -> Self {
        Self {
            project: project.clone(),
            begins_at: BEGINNING,
            first_session: 1,
            lost_session: None,
            agents: Mutex::default(),
        }
    }

    /// Prepares the next start of the run in `journal`; `None` if the run was not interrupted.
    pub(super) fn resumed(project: &Project, journal: &Journal) -> Option<Self> {
        let recorded = journal.broken_off()?;
        let lost_session = match recorded.under_way() {
            RunAction::StartSession(plan) => Some(plan.number),
            _ => None,
        };
        let sessions = journal.stories().pop()?.sessions;
        let next = sessions.last().map_or(1, |session| session.number + 1);
        Some(Self {
            project: project.clone(),
            begins_at: journal.entries().last()?.at,
            first_session: lost_session.unwrap_or(next),
            lost_session,
            agents: Mutex::default(),
        })
    }

    /// Returns the project to run in.
    pub fn project(&self) -> Project {
        self.project.clone()
    }

    /// Returns the number of the first session of this life: more than 1 for most that are resumed.
    pub fn first_session(&self) -> u32 {
        self.first_session
    }

    /// Returns the session that was under way when the run was killed, and is run again.
    pub fn lost_session(&self) -> Option<u32> {
        self.lost_session
    }

    /// Makes scripted agents of the scripts of the whole, undisturbed run.
    ///
    /// Those of sessions that are over are left out. A session that is run
    /// again may find that its lost self has done its work, so its calls need
    /// not succeed any more; what was denied is still to be denied. What is
    /// wrong with the play in the end is a problem of the crash point.
    pub fn agents(&self, scripts: impl IntoIterator<Item = SessionScript>) -> Arc<ScriptedAgents> {
        let scripts = (1..).zip(scripts).map(|(number, script)| {
            if self.lost_session == Some(number) {
                script.repeated()
            } else {
                script
            }
        });
        let agents = ScriptedAgents::resuming_at(self.first_session, scripts).unverified();
        let agents = Arc::new(agents);
        self.given().push(agents.clone());
        agents
    }

    pub(super) fn begins_at(&self) -> Timestamp {
        self.begins_at
    }

    /// Returns what is wrong with the play of the agents of this life.
    pub(super) fn problems(&self) -> Vec<String> {
        let given = self.given();
        given.iter().flat_map(|agents| agents.problems()).collect()
    }

    fn given(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ScriptedAgents>>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What happens once the last line is written.
pub(super) type Death = Box<dyn Fn() + Send + Sync>;

/// Takes as many lines as it was told to, calls a death and takes no more.
pub(super) struct UpToLine {
    inner: FileJournal,
    left: Mutex<usize>,
    death: Death,
}

impl UpToLine {
    pub(super) fn new(inner: FileJournal, lines: usize, death: Death) -> Self {
        Self {
            inner,
            left: Mutex::new(lines),
            death,
        }
    }
}

impl RunJournal for UpToLine {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if *left == 0 {
            return Err(JournalError::new("the run was interrupted here"));
        }
        self.inner.append(run, at, line, durability)?;
        *left -= 1;
        if *left == 0 {
            // Still with the lock: a death that does not return stops every other writer, too.
            (self.death)();
        }
        Ok(())
    }
}
