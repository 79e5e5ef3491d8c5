//! What was found, for people.

use autonoe_core::{Availability, BackendProbe, ProbeFinding, ProbeState};

use crate::columns::columns;
use crate::compose::BackendChoice;
use crate::present::shorten;

/// Writes the findings and the backends for people.
pub(super) fn shown(findings: &[ProbeFinding], backends: &[BackendProbe], can_run: bool) -> String {
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
        (true, _) => "A run could start.".to_owned(),
        (false, 1) => "One problem is in the way of a run.".to_owned(),
        (false, count) => format!("{count} problems are in the way of a run."),
    };
    let backends: Vec<_> = backends.iter().map(row).collect();
    format!(
        "{}\nWhat `--backend` takes:\n{}\n{verdict}\n",
        columns(0, &rows),
        columns(2, &backends)
    )
}

/// Says in one line whether a backend is there.
fn row(probe: &BackendProbe) -> [String; 3] {
    let (state, summary) = match probe.availability {
        Availability::Available => ("available", probe.summary()),
        Availability::Unavailable => ("unavailable", probe.summary()),
        Availability::Incomplete => {
            let form = BackendChoice::form_of(&probe.backend);
            let told = form.map(|form| format!("as {form}"));
            ("", told.unwrap_or_else(|| probe.summary()))
        }
    };
    [shorten(&probe.backend), state.to_owned(), shorten(&summary)]
}
