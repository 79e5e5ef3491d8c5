//! Text output of `autonoe doctor`.

use autonoe_app::BackendChoice;
use autonoe_app::text::shorten;
use autonoe_core::agent::{Availability, BackendProbe, ProbeFinding, ProbeState};

use crate::columns::columns;

/// Formats the findings and the backends as text.
pub(super) fn format_findings(
    findings: &[ProbeFinding],
    backends: &[BackendProbe],
    can_run: bool,
) -> String {
    let mut rows = Vec::new();
    for finding in findings {
        let mark = match finding.state {
            ProbeState::Good => "ok",
            ProbeState::Warning => "warning",
            ProbeState::Problem => "problem",
        };
        rows.push([
            mark.to_owned(),
            shorten(&finding.name),
            shorten(&finding.found),
        ]);
        let remedy = finding.remedy.as_deref();
        rows.extend(remedy.map(|remedy| {
            let remedy = format!("-> {}", shorten(remedy));
            [String::new(), String::new(), remedy]
        }));
    }
    let problems = findings.iter().filter(|finding| finding.is_problem());
    let verdict = match (can_run, problems.count()) {
        (true, _) => "A run can start.".to_owned(),
        (false, 1) => "1 problem prevents a run.".to_owned(),
        (false, count) => format!("{count} problems prevent a run."),
    };
    let backends: Vec<_> = backends.iter().map(row).collect();
    format!(
        "{}\nValues of `--backend`:\n{}\n{verdict}\n",
        columns(0, &rows),
        columns(2, &backends)
    )
}

/// Formats the availability of a backend in one row.
fn row(probe: &BackendProbe) -> [String; 3] {
    let (state, summary) = match probe.availability {
        Availability::Available => ("available", probe.summary()),
        Availability::Unavailable => ("unavailable", probe.summary()),
        Availability::Incomplete => {
            let form = BackendChoice::form_of(&probe.backend);
            let usage = form.map(|form| format!("write {form}"));
            ("", usage.unwrap_or_else(|| probe.summary()))
        }
    };
    [shorten(&probe.backend), state.to_owned(), shorten(&summary)]
}
