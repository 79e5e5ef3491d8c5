//! Follows a remote run to its end.

use std::time::Duration;

use autonoe_app::AppError;
use autonoe_app::text::sanitize_line;
use autonoe_core::engine::RunView;
use autonoe_core::project::JournalEntry;
use tokio::time::{Instant, sleep};

use super::CommandContext;
use super::remote_journal::{PAUSE, RemoteJournal};
use crate::output::ReaderState;

/// Time that an outage is tolerated.
const OUTAGE_LIMIT: Duration = Duration::from_secs(600);

/// Time that a host waits for a new line.
const WAIT: Duration = Duration::from_secs(10);

/// Attempts to read the last lines of a journal that is not required.
const TRIES: u32 = 3;

/// Effect of a journal that stays unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The command fails.
    Fails,
    /// The run is followed to its end without it.
    Tolerated,
}

impl CommandContext<'_> {
    /// Follows a run until it has ended, and passes its state and its new lines to `on_update`.
    ///
    /// Returns the last state, or `None` if the reader is gone. An outage is reported once, and is
    /// tolerated for ten minutes.
    pub(super) async fn follow(
        &self,
        journal: &mut RemoteJournal<'_>,
        unreadable: Unreadable,
        mut on_update: impl FnMut(&RunView, &[JournalEntry]) -> Result<ReaderState, AppError>,
    ) -> Result<Option<RunView>, AppError> {
        let run = journal.run.clone();
        let (mut out_since, mut is_reported, mut tries) = (None, false, 0);
        loop {
            let update = tokio::select! {
                biased;
                // An error of the server is that of the update, too.
                Ok(_) = self.cluster.wait(&run) => None,
                update = journal.update(WAIT) => Some(update),
            };
            let update = match update {
                Some(update) => update,
                None => journal.update(Duration::ZERO).await,
            };
            let (error, is_tolerated) = match update {
                Ok(update) => {
                    if on_update(&update.view, &update.entries)? == ReaderState::Closed {
                        return Ok(None);
                    }
                    let is_tolerated = unreadable == Unreadable::Tolerated;
                    let has_ended = update.view.outcome.is_some();
                    tries += u32::from(has_ended);
                    match update.error {
                        None if has_ended => return Ok(Some(update.view)),
                        Some(_) if is_tolerated && tries == TRIES => return Ok(Some(update.view)),
                        Some(error) => (error, is_tolerated),
                        None => {
                            (out_since, is_reported) = (None, false);
                            continue;
                        }
                    }
                }
                Err(error) => (error, false),
            };
            if is_tolerated {
                out_since = None;
            } else {
                let since: Instant = *out_since.get_or_insert_with(Instant::now);
                if error.is_permanent || since.elapsed() >= OUTAGE_LIMIT {
                    return Err(error.into());
                }
            }
            if !is_reported {
                let warning = format!("warning: cannot read the journal for now: {}", error.error);
                self.output.note(&sanitize_line(&warning));
            }
            is_reported = true;
            sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::engine::{ProjectName, RunOutcome};

    use super::super::tests::Printed;
    use super::super::tests::unreachable_cluster::{Page, UnreachableCluster, page};
    use super::*;
    use crate::args::ServerArgs;

    /// The results of following a run.
    struct Followed {
        view: Result<Option<RunView>, AppError>,
        elapsed: Duration,
        lines: usize,
        warnings: Vec<String>,
    }

    async fn follow(cluster: &UnreachableCluster, run: &str, unreadable: Unreadable) -> Followed {
        let (shop, printed) = (
            ProjectName::new("shop").expect("a name"),
            Printed::default(),
        );
        let mut journal = RemoteJournal::new(cluster, Some(shop), RunId::new(run));
        let mut lines = 0;
        let context = CommandContext {
            cluster,
            server: &ServerArgs::default(),
            output: &printed.output(),
        };
        let started = Instant::now();
        let on_update = |_: &RunView, entries: &[JournalEntry]| {
            lines += entries.len();
            Ok(ReaderState::Open)
        };
        let view = context.follow(&mut journal, unreadable, on_update).await;
        Followed {
            view,
            elapsed: started.elapsed(),
            lines,
            warnings: printed.notes().lines().map(ToOwned::to_owned).collect(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retries_while_the_server_is_unreachable() {
        for unreadable in [Unreadable::Fails, Unreadable::Tolerated] {
            let followed = follow(&UnreachableCluster::for_times(3), "shop-1", unreadable).await;

            let view = followed.view.expect("it has come back");
            let outcome = view.and_then(|view| view.outcome);
            assert_eq!(outcome, Some(RunOutcome::cancelled("enough")));
            assert_eq!(followed.elapsed.as_secs(), 2);
            let warning = "warning: cannot read the journal for now: the engine failed: the \
                server is away";
            assert_eq!(followed.warnings, [warning]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_after_ten_minutes() {
        for unreadable in [Unreadable::Fails, Unreadable::Tolerated] {
            let followed = follow(&UnreachableCluster::for_ever(), "shop-1", unreadable).await;

            let error = followed.view.expect_err("it does not come back");
            assert!(error.to_string().contains("the server is away"), "{error}");
            assert_eq!(followed.elapsed.as_secs(), 600);
            assert_eq!(followed.warnings.len(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_unknown_run_is_not_retried() {
        let cluster = UnreachableCluster::for_ever();

        let followed = follow(&cluster, "nobody", Unreadable::Tolerated).await;

        assert!(followed.view.is_err());
        assert_eq!(followed.elapsed, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_lines_are_retried() {
        let pages = [page(1, 1, false), Page::Busy, Page::Busy, page(2, 3, true)];
        let cluster = UnreachableCluster::with_pages(pages).ended();

        let followed = follow(&cluster, "shop-1", Unreadable::Tolerated).await;

        assert!(followed.view.expect("it ends").is_some());
        assert_eq!((followed.lines, followed.warnings.len()), (3, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_ended_run_is_reported_without_its_last_lines_if_they_are_not_required() {
        let pages = || [page(1, 1, false), Page::Busy, Page::Busy, Page::Corrupt];
        let cluster = || UnreachableCluster::with_pages(pages()).ended();

        let tolerated = follow(&cluster(), "shop-1", Unreadable::Tolerated).await;
        let required = follow(&cluster(), "shop-1", Unreadable::Fails).await;

        assert!(tolerated.view.expect("it ends").is_some());
        // Lines that were read before the error are not lost.
        assert_eq!(tolerated.lines, 1);
        let error = required.view.expect_err("it fails").to_string();
        assert!(error.contains("rubbish"), "{error}");
    }
}
