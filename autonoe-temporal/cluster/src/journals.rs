//! [`Journals`]: serves the journals of projects on this host.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use autonoe_core::Project;
use autonoe_core::event::{Failure, Retry};
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_temporal::JournalSource;
use tokio::time::{Instant, sleep};

use crate::projects::Projects;

/// Maximum wait for a new line.
const LONGEST: Duration = Duration::from_secs(20);

/// Polling interval of the journal file.
const PAUSE: Duration = Duration::from_millis(300);

/// Reads pages of journals. Projects are found by their names only, as for sessions.
pub(crate) struct Journals {
    projects: Arc<Projects>,
}

impl Journals {
    pub(crate) fn new(projects: Arc<Projects>) -> Self {
        Self { projects }
    }
}

#[async_trait]
impl JournalSource for Journals {
    async fn page(&self, ask: &JournalPageRequest) -> Result<JournalPage, Failure> {
        let until = Instant::now() + ask.wait.min(LONGEST);
        loop {
            let project = self.projects.find_existing(&ask.project, &ask.run)?;
            let file = project.journal_path();
            // Read before the page, so that a later write changes the state.
            let state = state(&file);
            let page = read(project, ask.clone()).await?;
            // A journal with fewer lines than the reader knows was replaced.
            let has_news = !page.entries.is_empty() || page.next < ask.after;
            if has_news || Instant::now() >= until {
                return Ok(page);
            }
            while state == self::state(&file) && Instant::now() < until {
                sleep(PAUSE).await;
            }
        }
    }
}

/// Returns the size and the modification time of a file.
fn state(file: &Path) -> Option<(u64, SystemTime)> {
    let found = fs::metadata(file).ok()?;
    Some((found.len(), found.modified().ok()?))
}

/// Reads a page on a blocking thread.
async fn read(project: Project, ask: JournalPageRequest) -> Result<JournalPage, Failure> {
    let reading = move || JournalPage::read(&project, &ask.run, ask.after);
    let read = tokio::task::spawn_blocking(reading).await;
    let read = read.map_err(|error| read_failure(&error))?;
    read.map_err(|error| read_failure(&error))
}

fn read_failure(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::from_error("journal", error, Retry::Permanent)
}

#[cfg(test)]
mod tests {
    use autonoe_process::ProcessRunner;
    use serde_json::{Value, json};

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

        async fn request_page(&self, ask: Value) -> Result<JournalPage, Failure> {
            let projects = Projects::for_tests(self.root.path(), self.remotes.clone());
            let ask = serde_json::from_value(ask).expect("it is right");
            Journals::new(Arc::new(projects)).page(&ask).await
        }

        async fn refused(&self, ask: Value) -> Failure {
            self.request_page(ask).await.expect_err("it is refused")
        }
    }

    #[tokio::test]
    async fn page_contains_the_lines_of_the_run() {
        let host = Host::new();
        host.write("shop", &format!("{LINE}\n"));

        let all = host
            .request_page(json!({"project": "shop", "run": "shop-1"}))
            .await;
        let known = json!({"project": "shop", "run": "shop-1", "after": 1});
        let rest = host.request_page(known).await;

        let (all, rest) = (all.expect("readable"), rest.expect("readable"));
        let line: Value = serde_json::from_str(LINE).expect("JSON");
        let expected = json!({"entries": [line], "next": 1, "isLast": true});
        assert_eq!(serde_json::to_value(all).expect("JSON"), expected);
        assert_eq!((rest.entries.len(), rest.next, rest.is_last), (0, 1, true));
    }

    #[tokio::test]
    async fn waiting_request_returns_new_entries() {
        let host = Host::new();
        host.write("shop", "");
        let ask = json!({"project": "shop", "run": "shop-1", "waitMs": 15_000});

        let (page, ()) = tokio::join!(host.request_page(ask), async {
            tokio::task::yield_now().await;
            host.write("shop", &format!("{LINE}\n"));
        });

        assert_eq!(page.expect("readable").next, 1);
    }

    #[tokio::test]
    async fn invalid_journal_or_project_is_refused() {
        let host = Host::new();
        host.write("shop", "rubbish\n");

        let cases = [
            (json!({"project": "shop", "run": "shop-1"}), "journal"),
            (json!({"project": "other", "run": "shop-1"}), "not_here"),
        ];
        for (ask, code) in cases {
            let failure = host.refused(ask.clone()).await;
            assert_eq!(failure.code, code, "{ask}: {failure}");
        }
        for no_project in [
            json!({"project": "../shop", "run": "r"}),
            json!({"path": "/etc/passwd"}),
        ] {
            let ask = serde_json::from_value::<JournalPageRequest>(no_project.clone());
            assert!(ask.is_err(), "{no_project}");
        }
        let corrupt = host.refused(json!({"project": "shop", "run": "shop-1"}));
        let corrupt = corrupt.await.to_string();
        assert!(corrupt.contains("line 1 of the journal"), "{corrupt}");
    }

    #[tokio::test]
    async fn synced_project_is_read_on_its_host_without_changes() {
        let mut host = Host::new();
        let commands = ProcessRunner::unconfined("/");
        let remotes = Remotes::below("/srv/git", "main", host.root.path(), commands);
        host.remotes = Some(remotes.expect("an address"));
        host.write("shop/shop-1/project", &format!("{LINE}\n"));

        let there = host
            .request_page(json!({"project": "shop", "run": "shop-1"}))
            .await;
        let other_host = host.refused(json!({"project": "shop", "run": "shop-2"}));
        let other_host = other_host.await;
        let outside = host.refused(json!({"project": "shop", "run": "../.."}));
        let outside = outside.await;

        assert_eq!(there.expect("readable").next, 1);
        assert_eq!(other_host.code, "not_here");
        assert!(!host.root.path().join("shop/shop-2").exists());
        assert_eq!(outside.code, "git_sync", "{outside}");
    }
}
