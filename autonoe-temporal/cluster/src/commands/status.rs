//! The command `autonoe-cluster status`: prints the state of a run.

use autonoe_app::AppError;
use autonoe_app::text::{sanitize_line, summary};
use autonoe_core::engine::{ProjectName, RunEnding, RunOutcome, RunPhase, RunView, SessionsRun};
use autonoe_core::event::WaitReason;
use autonoe_core::time::{format_duration, format_time};
use autonoe_core::{RunId, RunReport};

use serde::Deserialize;

use super::CommandContext;
use super::fleet::{fleet_report, fleet_text};
use crate::args::OutputFormat;
use crate::fleet_work::{FleetWork, project_name};

impl CommandContext<'_> {
    /// Shows the state of a run.
    pub(super) async fn status(&self, run: &RunId, output: OutputFormat) -> Result<(), AppError> {
        let view = self.cluster.status(run).await?;
        match output {
            OutputFormat::Json => self.output.json(&view),
            OutputFormat::Text => self.print(&format_view(&view)),
        }
    }
}

/// Formats the state of a run for people.
fn format_view(view: &RunView) -> String {
    let mut lines = vec![format!("Run {}: {}", view.id, phase(view))];
    let mut add = |name: &str, value: &str| {
        lines.push(format!("  {name:<9} {}", sanitize_line(value)));
    };
    if let Some(run) = sessions(view)
        && let Some(project) = project(&run)
    {
        add("project", &format!("{project} ({})", run.limits.mode));
    }
    if let Some(host) = &view.host {
        add("host", host);
    }
    if let Some(task) = view.progress.as_ref().and_then(|at| at.task.as_ref()) {
        add("task", task);
    }
    let unknown = || "unknown: no worker that knows it responds".to_owned();
    if view.phase != RunPhase::Ended {
        let so_far = view.progress.as_ref().map(|at| {
            let passed = (at.progress * 100.0).floor();
            format!("{passed}%, session {}", at.iteration)
        });
        add("progress", &so_far.unwrap_or_else(unknown));
    }
    let spent = view.progress.as_ref().map(|at| {
        let (cost, time) = (at.spent.cost, format_duration(at.spent.time));
        format!("{cost}, {time}")
    });
    add("spent", &spent.unwrap_or_else(unknown));
    if let Some(wait) = &view.wait {
        let until = format_time(wait.until);
        let purpose = match wait.reason {
            WaitReason::Pause => "for the next session",
            WaitReason::Quota => "for the quota",
            WaitReason::QuotaBackoff => "to try the quota again",
            WaitReason::RetryAfter => "as the service requested",
        };
        add("waits", &format!("{purpose}, until {until}"));
    }
    lines.extend(stall_reason(view));
    if let Some(outcome) = &view.outcome {
        lines.extend(ended(&view.id, outcome));
    }
    lines.join("\n") + "\n"
}

/// Returns the input of a run that is driven session by session.
pub(super) fn sessions(view: &RunView) -> Option<SessionsRun> {
    let spec = view.spec.as_ref()?;
    serde_json::from_value(spec.input.clone()).ok()
}

/// Returns the name of the project of a run: its own, or that of the repository of its fleet.
pub(super) fn project(run: &SessionsRun) -> Option<ProjectName> {
    if let Ok(project) = run.project() {
        return Some(project);
    }
    let work = FleetWork::deserialize(&run.work).ok()?;
    project_name(&work.repository).ok()
}

/// Formats why a run makes no progress.
pub(super) fn stall_reason(view: &RunView) -> Option<String> {
    let stall_reason = view.last_error.as_deref()?;
    Some(format!(
        "It makes no progress: {}",
        sanitize_line(stall_reason)
    ))
}

/// Formats the outcome of a run.
pub(super) fn ended(run: &RunId, outcome: &RunOutcome) -> Vec<String> {
    let lines = if let Some(report) = fleet_report(outcome) {
        fleet_text(run, &report)
    } else if let Some(report) = report(outcome) {
        summary(&report).to_vec()
    } else {
        match &outcome.ending {
            RunEnding::Failed { failure } => {
                let failure = sanitize_line(&failure.to_string());
                vec![format!("It failed: {failure}")]
            }
            RunEnding::Succeeded => vec!["It succeeded.".to_owned()],
            RunEnding::Cancelled { .. } => Vec::new(),
        }
    };
    cancelled(outcome).into_iter().chain(lines).collect()
}

/// Formats why a run was cancelled, if it was. The report does not contain the reason.
pub(super) fn cancelled(outcome: &RunOutcome) -> Option<String> {
    match &outcome.ending {
        RunEnding::Cancelled { reason } if !reason.is_empty() => {
            Some(format!("It was cancelled: {}", sanitize_line(reason)))
        }
        RunEnding::Cancelled { .. } => Some("It was cancelled.".to_owned()),
        RunEnding::Succeeded | RunEnding::Failed { .. } => None,
    }
}

/// Returns the report of a run, if it has one.
pub(super) fn report(outcome: &RunOutcome) -> Option<RunReport> {
    serde_json::from_value(outcome.output.clone()).ok()
}

fn phase(view: &RunView) -> &'static str {
    match view.phase {
        RunPhase::Waiting if view.host.is_some() => "waiting between sessions",
        RunPhase::Waiting => "waiting for a host",
        RunPhase::Running => "running",
        RunPhase::Paused => "paused",
        RunPhase::Stopping => "ending",
        RunPhase::Ended => "ended",
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::Mode;
    use autonoe_core::engine::RunProgress;
    use autonoe_core::event::Failure;
    use autonoe_core::run::RunLimits;

    use super::*;

    fn view() -> RunView {
        let shop = ProjectName::new("shop").expect("a name");
        let run = SessionsRun::on_project(&shop, RunLimits::new(Mode::Sync));
        let mut view = RunView::new(RunId::new("shop-1"));
        view.spec = Some(run.to_spec(RunId::new("shop-1")).expect("JSON"));
        view
    }

    #[test]
    fn a_running_run_is_reported_with_its_place() {
        let mut view = view();
        view.phase = RunPhase::Running;
        view.host = Some("build-1".to_owned());
        let mut at = RunProgress::new(0.666);
        at.iteration = 3;
        at.spent.time = std::time::Duration::from_secs(90);
        view.progress = Some(at);

        let text = format_view(&view);

        let expected = "Run shop-1: running\n  project   shop (sync)\n  host      build-1\n  \
            progress  66%, session 3\n  spent     $0.00, 1m 30s\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn unknown_numbers_are_not_printed_as_zero() {
        let mut view = view();
        view.phase = RunPhase::Running;
        view.progress = None;

        let text = format_view(&view);

        let expected = "Run shop-1: running\n  project   shop (sync)\n  \
            progress  unknown: no worker that knows it responds\n  \
            spent     unknown: no worker that knows it responds\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn stalled_run_shows_reason_on_one_line() {
        let mut view = view();
        view.last_error = Some("no host has the project\nshop\u{1b}[2J".to_owned());

        let text = format_view(&view);

        let line = "\nIt makes no progress: no host has the project⏎shop [2J\n";
        assert!(text.ends_with(line), "{text}");
    }

    #[test]
    fn outcome_without_report_is_printed_on_one_line() {
        let mut view = view();
        view.phase = RunPhase::Ended;
        let broke = Failure::permanent("workflow_failed", "it broke\noff");
        view.outcome = Some(RunOutcome::failed(broke));

        let failed = format_view(&view);
        view.outcome = Some(RunOutcome::cancelled("enough"));
        let cancelled = format_view(&view);

        assert!(failed.ends_with("It failed: it broke⏎off\n"), "{failed}");
        assert!(
            cancelled.ends_with("It was cancelled: enough\n"),
            "{cancelled}"
        );
    }
}
