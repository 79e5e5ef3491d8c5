//! [`Attempt`], an operation on a project, and the message that it returns.

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{DeliverableId, LedgerStore, deliverable_tools};
use autonoe_core::project::{
    AgentConfig, FileDeliverableRepository, FileJournal, Journal, OpenProject, RunLock,
};
use autonoe_core::run::{Durability, JournalLine, RunJournal, RunLimits};
use autonoe_core::time::{Epoch, SeededIds, SessionKey, SystemClock};
use autonoe_core::tool::Toolbox;
use autonoe_core::{Deliverable, Mode, Project, ProjectRun, RunControl, RunId, ToolContext};
use autonoe_testkit::{ScriptedBackend, VirtualClock};
use jiff::Timestamp;
use serde_json::json;

use crate::bad_input::folder::runtime;

type Tried = Result<(), Box<dyn Error>>;

/// Longer than any operation that does not block takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// An operation on a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Find,
    Specification,
    Lock,
    CheckWritable,
    Config,
    ReadJournal,
    OpenJournal,
    AppendToJournal,
    Load,
    Save,
    CreateTwice,
    CreateExisting,
    Run,
}

impl Attempt {
    pub(crate) const ALL: [Self; 13] = [
        Self::Find,
        Self::Specification,
        Self::Lock,
        Self::CheckWritable,
        Self::Config,
        Self::ReadJournal,
        Self::OpenJournal,
        Self::AppendToJournal,
        Self::Load,
        Self::Save,
        Self::CreateTwice,
        Self::CreateExisting,
        Self::Run,
    ];

    /// Returns the name, for people and for another process.
    pub(crate) fn name(self) -> String {
        format!("{self:?}")
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attempt| attempt.name() == name)
    }

    /// Performs the operation and returns its message, or fails if it hangs.
    pub(crate) fn message_in_time(self, dir: &Path) -> String {
        let (sender, receiver) = mpsc::channel();
        let dir = dir.to_owned();
        std::thread::spawn(move || sender.send(self.message(&dir)));
        receiver
            .recv_timeout(DEADLINE)
            .unwrap_or_else(|_| panic!("{self:?} hangs or panics"))
    }

    /// Performs the operation and returns its message: a sentence, and below it the causes.
    pub(crate) fn message(self, dir: &Path) -> String {
        match runtime().block_on(self.perform(dir)) {
            Ok(message) => message,
            Err(error) => chain(error.as_ref()),
        }
    }

    async fn perform(self, dir: &Path) -> Result<String, Box<dyn Error>> {
        let project = Project::find(dir, None)?;
        match self {
            Self::Find => {}
            Self::Specification => drop(project.specification()?),
            Self::Lock => drop(RunLock::acquire(&project, Timestamp::now())?),
            Self::CheckWritable => project.check_writable()?,
            Self::Config => drop(AgentConfig::load(project.config_path())?),
            Self::ReadJournal => drop(Journal::read(&project.journal_path())?),
            Self::OpenJournal => drop(FileJournal::open(&project)?),
            Self::AppendToJournal => append(&FileJournal::open(&project)?)?,
            Self::Load => drop(ledger_store(&project)?.read().await?),
            Self::Save => save(&ledger_store(&project)?).await?,
            Self::CreateTwice => create(&ledger_store(&project)?, ["DL-NEW", "DL-NEW"]).await?,
            Self::CreateExisting => create(&ledger_store(&project)?, ["DL-NEW", "DL-000"]).await?,
            Self::Run => return run(project).await,
        }
        Ok("nothing".to_owned())
    }
}

/// Runs in a project where everything is done, so that no agent is needed; returns the exit reason.
async fn run(project: Project) -> Result<String, Box<dyn Error>> {
    let report = ProjectRun::new(
        OpenProject::options(&project).clock(Arc::new(VirtualClock::new())),
        Arc::new(ScriptedBackend::new([])),
    )
    .configure(|runner| runner.ids(Arc::new(SeededIds::new(2))))
    .run(&RunControl::new())
    .await?;
    Ok(report.exit.to_string())
}

fn ledger_store(project: &Project) -> Result<LedgerStore, Box<dyn Error>> {
    let repository = FileDeliverableRepository::open(project)?;
    let clock = Arc::new(SystemClock);
    Ok(LedgerStore::new(Arc::new(repository), clock, Epoch(9)))
}

async fn save(store: &LedgerStore) -> Tried {
    let id = DeliverableId::new("DL-NEW")?;
    store
        .update(|state, today| {
            let item = Deliverable::new(id.clone(), "a thing that is wanted", ["it works"])?;
            state.ledger.create([item], today)
        })
        .await?;
    Ok(())
}

/// Creates deliverables as an agent does, through the tool.
async fn create(store: &LedgerStore, ids: [&str; 2]) -> Tried {
    let toolbox = Toolbox::new(deliverable_tools(store, &InstructionName::Initializer));
    let deliverables = ids
        .map(|id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]}));
    let session = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let input = json!({ "deliverables": deliverables });
    let created = toolbox
        .call("create", input, ToolContext::new(session))
        .await;
    created.map_err(|error| format!("{} ({})", error.message, error.code.as_str()))?;
    Ok(())
}

fn append(journal: &FileJournal) -> Tried {
    let line = JournalLine::RunStarted {
        limits: RunLimits::new(Mode::Run),
        epoch: Epoch(1),
    };
    let run = RunId::new("another-run");
    journal.append(&run, Timestamp::UNIX_EPOCH, &line, Durability::Synced)?;
    Ok(())
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("\n  because: {error}"));
        cause = error.source();
    }
    text
}
