//! What runs have written down in the projects of this host, for who follows them from elsewhere.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use autonoe_core::{
    Failure, JobRunner, JournalAsk, JournalPage, Project, Retry, RunDesk,
    RunOutcome, RunSpec,
};
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::projects::Projects;

/// The longest that somebody waits for a line.
const LONGEST: Duration = Duration::from_secs(20);

/// How often it is looked whether something was written.
const PAUSE: Duration = Duration::from_millis(300);

/// Serves pages of journals. Projects are found as for sessions: by their names, and nowhere else.
pub(crate) struct Journals {
    projects: Arc<Projects>,
}

impl Journals {
    pub(crate) fn of(projects: Arc<Projects>) -> Self {
        Self { projects }
    }

    async fn page(&self, job: &RunSpec) -> Result<Value, Failure> {
        let ask: JournalAsk = serde_json::from_value(job.input.clone()).map_err(|error| {
            let why = format!("it is not said which journal is meant: {error}");
            Failure::permanent("unknown_journal", why)
        })?;
        let until = Instant::now() + ask.wait.min(LONGEST);
        loop {
            let project = self.projects.known(&ask.project, &ask.run)?;
            let file = project.journal_path();
            // Looked at before it is read: what is written after that is another state.
            let state = state(&file);
            let page = read(project, ask.clone()).await?;
            if page.has_news || Instant::now() >= until {
                return Ok(page.page);
            }
            while state == self::state(&file) && Instant::now() < until {
                sleep(PAUSE).await;
            }
        }
    }
}

/// A page, as it travels.
struct Page {
    page: Value,
    /// Whether there is something to tell.
    has_news: bool,
}

impl Page {
    fn of(has_news: bool, page: &impl Serialize) -> Result<Self, Failure> {
        let page = serde_json::to_value(page).map_err(|error| unread(&error))?;
        Ok(Self { page, has_news })
    }
}

/// Returns what changes with a file.
fn state(file: &Path) -> Option<(u64, SystemTime)> {
    let found = fs::metadata(file).ok()?;
    Some((found.len(), found.modified().ok()?))
}

/// Reads a page on a thread that may block.
async fn read(project: Project, ask: JournalAsk) -> Result<Page, Failure> {
    let reading = move || {
        let page = JournalPage::read(&project, &ask.run, ask.after);
        let page = page.map_err(|error| unread(&error))?;
        // Fewer lines than the reader knows mean another journal.
        Page::of(!page.entries.is_empty() || page.next < ask.after, &page)
    };
    let read = tokio::task::spawn_blocking(reading).await;
    read.map_err(|error| unread(&error))?
}

fn unread(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::from_error("journal", error, Retry::Useless)
}

#[async_trait]
impl JobRunner for Journals {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        tokio::select! {
            biased;
            () = desk.control().cancelled() => RunOutcome::cancelled(""),
            page = self.page(run) => match page {
                Ok(page) => RunOutcome::succeeded(page),
                Err(failure) => RunOutcome::failed(failure),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use autonoe_core::{RunControl, RunEnding, RunId};
    use autonoe_process::Commands;
    use serde_json::json;

    use super::*;
    use crate::remotes::Remotes;

    const LINE: &str =
        r#"{"v":1,"run":"shop-1","at":"2026-01-01T00:00:00Z","line":"flow_resumed","epoch":1}"#;

    /// A host with a folder for its projects.
    struct Host {
        root: tempfile::TempDir,
        remotes: Option<Remotes>,
    }

    impl Host {
        fn new() -> Self {
            Self {
                root: tempfile::tempdir().expect("a folder"),
                remotes: None,
            }
        }

        fn write(&self, project: &str, journal: &str) {
            let folder = self.root.path().join(project).join(".autonoe");
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("journal.jsonl"), journal).expect("writable");
        }

        fn journals(&self) -> Journals {
            Journals::of(Arc::new(Projects {
                root: self.root.path().canonicalize().expect("it is there"),
                remotes: self.remotes.clone(),
                autonoe: "/usr/bin/autonoe".into(),
                arguments: Vec::new(),
                environment: BTreeMap::new(),
            }))
        }

        async fn ask(&self, input: Value) -> RunOutcome {
            self.carry_out("journal", input).await
        }

        async fn carry_out(&self, what: &str, input: Value) -> RunOutcome {
            let job = RunSpec::new(RunId::new("journal-1"), what, input);
            let desk = RunDesk::new(RunControl::new(), |_| {});
            self.journals().run(&job, &desk).await
        }

        async fn refused(&self, input: Value) -> Failure {
            let outcome = self.ask(input).await;
            match outcome.ending {
                RunEnding::Failed { failure } => failure,
                ending => panic!("{ending:?}"),
            }
        }
    }

    #[tokio::test]
    async fn the_lines_of_a_run_are_given() {
        let host = Host::new();
        host.write("shop", &format!("{LINE}\n"));

        let all = host.ask(json!({"project": "shop", "run": "shop-1"})).await;
        let known = json!({"project": "shop", "run": "shop-1", "after": 1});
        let rest = host.ask(known).await;

        let line: Value = serde_json::from_str(LINE).expect("JSON");
        let expected = json!({"entries": [line], "next": 1, "isLast": true});
        assert_eq!(all, RunOutcome::succeeded(expected));
        let nothing = json!({"entries": [], "next": 1, "isLast": true});
        assert_eq!(rest, RunOutcome::succeeded(nothing));
    }

    #[tokio::test]
    async fn who_waits_is_given_what_comes() {
        let host = Host::new();
        host.write("shop", "");
        let ask = json!({"project": "shop", "run": "shop-1", "waitMs": 15_000});

        let (outcome, ()) = tokio::join!(host.ask(ask), async {
            tokio::task::yield_now().await;
            host.write("shop", &format!("{LINE}\n"));
        });

        assert_eq!(outcome.output["next"], 1, "{outcome:?}");
    }

    #[tokio::test]
    async fn what_is_no_journal_of_a_project_is_refused() {
        let host = Host::new();
        host.write("shop", "rubbish\n");

        let cases = [
            (json!({"project": "shop", "run": "shop-1"}), "journal"),
            (json!({"project": "other", "run": "shop-1"}), "not_here"),
            (json!({"project": "../shop", "run": "r"}), "unknown_journal"),
            (json!({"path": "/etc/passwd"}), "unknown_journal"),
        ];
        for (ask, code) in cases {
            let failure = host.refused(ask.clone()).await;
            assert_eq!(failure.code, code, "{ask}: {failure}");
        }
        let corrupt = host.refused(json!({"project": "shop", "run": "shop-1"}));
        let corrupt = corrupt.await.to_string();
        assert!(corrupt.contains("line 1 of the journal"), "{corrupt}");
    }

    #[tokio::test]
    async fn a_travelling_project_is_read_where_its_run_is_and_nothing_is_made() {
        let mut host = Host::new();
        let remotes = Remotes::below("/srv/git", "main", Commands::unconfined("/"));
        host.remotes = Some(remotes.expect("an address"));
        host.write("shop/shop-1/project", &format!("{LINE}\n"));

        let there = host.ask(json!({"project": "shop", "run": "shop-1"})).await;
        let elsewhere = host.refused(json!({"project": "shop", "run": "shop-2"}));
        let elsewhere = elsewhere.await;
        let outside = host.refused(json!({"project": "shop", "run": "../.."}));
        let outside = outside.await;

        assert_eq!(there.output["next"], 1, "{there:?}");
        assert_eq!(elsewhere.code, "not_here");
        assert!(!host.root.path().join("shop/shop-2").exists());
        assert_eq!(outside.code, "travel", "{outside}");
    }
}
