//! `autonoe engine status`.

use autonoe_core::{
    Engine, RunEnding, RunOutcome, RunPhase, RunReport, RunView, SessionsRun, WaitReason,
    format_duration, format_time,
};

use super::place;
use crate::args::{EngineStatusArgs, OutputFormat};
use crate::error::CliError;
use crate::present::{harmless_line, summary};
use crate::surroundings::Surroundings;

/// Shows how a run stands.
pub(super) async fn status(
    args: &EngineStatusArgs,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    let engine = place::find(&args.which.engine, surroundings).await?;
    let view = engine.status(&args.which.run).await?;
    match args.output {
        OutputFormat::Json => surroundings.say_json(&view),
        OutputFormat::Text => surroundings.say(&shown(&view)),
    }
}

/// Writes how a run stands for people.
fn shown(view: &RunView) -> String {
    let mut lines = vec![format!("Run {}: {}", view.id, phase(view))];
    let mut add = |name: &str, value: &str| {
        lines.push(format!("  {name:<9} {}", harmless_line(value)));
    };
    if let Some(run) = sessions(view)
        && let Ok(project) = run.project()
    {
        add("project", &format!("{project} ({})", run.limits.mode));
    }
    if let Some(host) = &view.host {
        add("host", host);
    }
    if let Some(task) = view.at.as_ref().and_then(|at| at.task.as_ref()) {
        add("task", task);
    }
    let unknown = || "unknown: nobody who knows it answers".to_owned();
    if view.phase != RunPhase::Ended {
        let so_far = view.at.as_ref().map(|at| {
            let passed = (at.progress * 100.0).floor();
            format!("{passed}%, session {}", at.iteration)
        });
        add("progress", &so_far.unwrap_or_else(unknown));
    }
    let spent = view.at.as_ref().map(|at| {
        let (cost, time) = (at.spent.cost, format_duration(at.spent.time));
        format!("{cost}, {time}")
    });
    add("spent", &spent.unwrap_or_else(unknown));
    if let Some(wait) = &view.wait {
        let until = format_time(wait.until);
        let what = match wait.reason {
            WaitReason::Pause => "for the next session",
            WaitReason::Quota => "for the quota",
            WaitReason::QuotaBackoff => "to try the quota again",
            _ => "as the service asked",
        };
        add("waits", &format!("{what}, until {until}"));
    }
    lines.extend(trouble(view));
    if let Some(outcome) = &view.outcome {
        lines.extend(ended(outcome));
    }
    lines.join("\n") + "\n"
}

/// Returns what a run is to do that is driven session by session.
pub(super) fn sessions(view: &RunView) -> Option<SessionsRun> {
    let spec = view.spec.as_ref()?;
    serde_json::from_value(spec.input.clone()).ok()
}

/// Writes why a run does not come on.
pub(super) fn trouble(view: &RunView) -> Option<String> {
    let trouble = view.trouble.as_deref()?;
    Some(format!("It does not come on: {}", harmless_line(trouble)))
}

/// Writes what a run came to.
pub(super) fn ended(outcome: &RunOutcome) -> Vec<String> {
    let told = match (report(outcome), &outcome.ending) {
        (Some(report), _) => summary(&report).to_vec(),
        (None, RunEnding::Failed { failure }) => {
            vec![format!(
                "It failed: {}",
                harmless_line(&failure.to_string())
            )]
        }
        (None, RunEnding::Succeeded) => vec!["It succeeded.".to_owned()],
        (None, RunEnding::Cancelled { .. }) => Vec::new(),
    };
    cancelled(outcome).into_iter().chain(told).collect()
}

/// Says why a run was cancelled, if it was. No report tells that.
pub(super) fn cancelled(outcome: &RunOutcome) -> Option<String> {
    match &outcome.ending {
        RunEnding::Cancelled { reason } if !reason.is_empty() => {
            Some(format!("It was cancelled: {}", harmless_line(reason)))
        }
        RunEnding::Cancelled { .. } => Some("It was cancelled.".to_owned()),
        RunEnding::Succeeded | RunEnding::Failed { .. } => None,
    }
}

/// Returns the report that a run gave, if it gave one.
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
    use autonoe_core::{Failure, Mode, ProjectName, RunId, RunLimits, RunProgress};

    use super::*;

    fn view() -> RunView {
        let shop = ProjectName::new("shop").expect("a name");
        let run = SessionsRun::on_project(&shop, RunLimits::new(Mode::Sync));
        let mut view = RunView::new(RunId::new("shop-1"));
        view.spec = Some(run.named(RunId::new("shop-1")).expect("JSON"));
        view
    }

    #[test]
    fn a_run_under_way_is_told_with_its_place() {
        let mut view = view();
        view.phase = RunPhase::Running;
        view.host = Some("build-1".to_owned());
        let mut at = RunProgress::of(0.666);
        at.iteration = 3;
        at.spent.time = std::time::Duration::from_secs(90);
        view.at = Some(at);

        let shown = shown(&view);

        let expected = "Run shop-1: running\n  project   shop (sync)\n  host      build-1\n  \
            progress  66%, session 3\n  spent     $0.00, 1m 30s\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_that_nobody_knows_are_not_shown_as_zero() {
        let mut view = view();
        view.phase = RunPhase::Running;
        view.at = None;

        let shown = shown(&view);

        let expected = "Run shop-1: running\n  project   shop (sync)\n  \
            progress  unknown: nobody who knows it answers\n  \
            spent     unknown: nobody who knows it answers\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn why_a_run_does_not_come_on_is_told_on_one_line() {
        let mut view = view();
        view.trouble = Some("no host has the project\nshop\u{1b}[2J".to_owned());

        let shown = shown(&view);

        let line = "\nIt does not come on: no host has the project⏎shop [2J\n";
        assert!(shown.ends_with(line), "{shown}");
    }

    #[test]
    fn what_a_run_without_a_report_came_to_is_told_on_one_line() {
        let mut view = view();
        view.phase = RunPhase::Ended;
        let broke = Failure::permanent("workflow_failed", "it broke\noff");
        view.outcome = Some(RunOutcome::failed(broke));

        let failed = shown(&view);
        view.outcome = Some(RunOutcome::cancelled("enough"));
        let cancelled = shown(&view);

        assert!(failed.ends_with("It failed: it broke⏎off\n"), "{failed}");
        assert!(
            cancelled.ends_with("It was cancelled: enough\n"),
            "{cancelled}"
        );
    }
}
