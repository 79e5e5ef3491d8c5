//! Changes of a remote run that its journal does not record.

use autonoe_app::text::wait_announcement;
use autonoe_core::engine::{RunPhase, RunView, RunWait};
use jiff::Timestamp;

/// Finds what changed between two views of a run: pauses, waits and problems.
#[derive(Debug, Default)]
pub(super) struct ViewChanges {
    is_paused: bool,
    wait: Option<RunWait>,
    problem: Option<String>,
}

/// A change, as it is printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ViewChange {
    /// A step of the run.
    Info(String),
    /// The run makes no progress.
    Warning(String),
}

impl ViewChanges {
    /// Returns what changed between the last view and that of `now`.
    pub(super) fn update(&mut self, view: &RunView, now: Timestamp) -> Vec<ViewChange> {
        let mut changes = Vec::new();
        // Without a position the view does not come from the run itself and shows no change.
        if view.progress.is_some() {
            let is_paused = view.phase == RunPhase::Paused;
            if is_paused != self.is_paused {
                let line = if is_paused { "Paused" } else { "Resumed" };
                changes.push(ViewChange::Info(line.to_owned()));
                self.is_paused = is_paused;
            }
            if view.wait != self.wait {
                if let Some(RunWait { reason, until, .. }) = view.wait {
                    let lines = wait_announcement(reason, until, now);
                    changes.extend(lines.into_iter().map(ViewChange::Info));
                }
                self.wait = view.wait;
            }
        }
        // A problem disappears and returns with each retry, and is printed once.
        if let Some(problem) = &view.last_error
            && self.problem.as_ref() != Some(problem)
        {
            let message = format!("The run makes no progress: {problem}");
            changes.push(ViewChange::Warning(message));
            self.problem = Some(problem.clone());
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::event::WaitReason;

    use super::*;

    fn view() -> RunView {
        RunView::new(RunId::new("shop-1"))
    }

    fn paused() -> RunView {
        let mut view = view();
        view.phase = RunPhase::Paused;
        view
    }

    fn waiting(reason: WaitReason) -> RunView {
        let mut view = view();
        let until = "2026-01-01T00:05:00Z".parse().expect("a time");
        view.wait = Some(RunWait::new(reason, until));
        view
    }

    fn stuck(problem: &str) -> RunView {
        let mut view = view();
        view.last_error = Some(problem.to_owned());
        view
    }

    /// Returns the texts of all changes.
    fn changes(views: &[RunView]) -> Vec<String> {
        let mut changes = ViewChanges::default();
        let now = "2026-01-01T00:00:00Z".parse().expect("a time");
        let all = views.iter().flat_map(|view| changes.update(view, now));
        all.map(|change| match change {
            ViewChange::Info(text) | ViewChange::Warning(text) => text,
        })
        .collect()
    }

    #[test]
    fn prints_each_change_once() {
        let views = [view(), paused(), paused(), view(), view()];
        assert_eq!(changes(&views), ["Paused", "Resumed"]);

        let quota = waiting(WaitReason::Quota);
        let views = [quota.clone(), quota.clone(), view(), quota];
        let announced = [
            "Quota exceeded, waiting 5m until reset...",
            "Quota resets at: 12:05 AM UTC",
        ];
        assert_eq!(changes(&views), [announced, announced].concat());
    }

    #[test]
    fn prints_nothing_for_the_pause_between_sessions() {
        assert!(changes(&[waiting(WaitReason::Pause)]).is_empty());
    }

    #[test]
    fn ignores_a_view_without_an_answer_of_the_run() {
        let mut silent = view();
        silent.progress = None;

        assert_eq!(changes(&[paused(), silent, paused()]), ["Paused"]);
    }

    #[test]
    fn warns_of_each_problem_once() {
        let views = [stuck("a"), view(), stuck("a"), stuck("b"), stuck("b")];

        assert_eq!(
            changes(&views),
            [
                "The run makes no progress: a",
                "The run makes no progress: b"
            ]
        );
    }
}
