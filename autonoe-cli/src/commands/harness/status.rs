//! `autonoe harness status`.

use std::process::ExitCode;

use autonoe_core::format_duration;
use autonoe_dashboard::{AlertLine, AlertSeverity, Dashboard, FleetPhase, Member, cost_words};
use autonoe_harness::{AggregatedResult, FleetHome, FleetRecord};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::snapshot::Watcher;
use super::which::{find, forgotten, home_of};
use super::{broken, waiting};
use crate::args::HarnessStatusArgs;
use crate::columns::columns_within;
use crate::error::CliError;
use crate::present::{harmless_line, shorten};
use crate::surroundings::Surroundings;

/// How many of the last alerts are shown, whatever they say.
const LAST: usize = 3;

/// How many of those before them, if something is wrong.
const ODD: usize = 5;

/// What `autonoe harness status --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HarnessFleets {
    /// The fleets of the project, in the order in which they were made.
    fleets: Vec<FleetStatus>,
}

/// A fleet and how it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FleetStatus {
    /// Its name.
    name: String,
    /// The process that leads it now; `null` if nobody does.
    coordinator: Option<u32>,
    /// How it stands, with its members and alerts.
    now: Dashboard,
    /// What it came to; `null` while it has not ended.
    result: Option<AggregatedResult>,
}

/// Shows the fleets of the project and how their members stand.
pub(super) fn status(
    args: &HarnessStatusArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let home = home_of(&args.project.find(surroundings)?);
    let fleets = waiting(async {
        Ok(match &args.fleet {
            Some(name) => vec![find(&home, Some(name)).await?],
            None => home.fleets().await.map_err(|error| broken(&error))?,
        })
    })?;
    if let (true, Some(error)) = (fleets.is_empty(), forgotten(&home)?) {
        return Err(error);
    }
    let fleets = fleets
        .into_iter()
        .map(|fleet| FleetStatus::of(&home, fleet));
    let fleets = HarnessFleets {
        fleets: fleets.collect::<Result<_, _>>()?,
    };
    match args.json {
        true => surroundings.say_json(&fleets)?,
        false => surroundings.say(&fleets.shown(surroundings.columns))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl FleetStatus {
    fn of(home: &FleetHome, fleet: FleetRecord) -> Result<Self, CliError> {
        let name = fleet.plan.id.clone();
        let now = Watcher::new(home, &name).show(&fleet, Timestamp::now())?;
        let coordinator = home.coordinator(&name).map_err(|error| broken(&error))?;
        Ok(Self {
            name,
            coordinator,
            now,
            result: fleet.result,
        })
    }

    fn shown(&self, width: Option<usize>) -> String {
        let Dashboard {
            phase,
            strategy,
            totals,
            ..
        } = &self.now;
        let state = match (phase, self.coordinator) {
            (FleetPhase::Waiting, None) => "interrupted: the same command resumes it".to_owned(),
            (FleetPhase::Stopping, None) => {
                "stopping, and nobody leads it: the same command brings it to its end".to_owned()
            }
            (phase, Some(pid)) => format!("{phase}, led by process {pid}"),
            (phase, None) => phase.to_string(),
        };
        let mut text = format!(
            "{} ({strategy}): {state}, {}, {}, {}\n",
            self.name,
            members_done(totals.done, totals.total),
            format_duration(self.now.elapsed),
            cost_words(&totals.cost)
        );
        text.push_str(&members(&self.now.members, width));
        for member in &self.now.members {
            if let Some(question) = &member.question {
                let (id, question) = (harmless_line(member.id.as_str()), harmless_line(question));
                text.push_str(&format!("  {id} asks: {question}\n"));
                text.push_str(&format!("  answer: autonoe harness send {id} TEXT\n"));
            }
        }
        for alert in worth_telling(&self.now.alerts) {
            let of = alert.harness.as_ref().map(|id| format!(" ({id})"));
            let message = shorten(&alert.message);
            let of = of.unwrap_or_default();
            text.push_str(&format!("  {}{of}: {message}\n", alert.severity));
        }
        text
    }
}

/// Returns the last alerts, and those before them that a person should know of.
fn worth_telling(alerts: &[AlertLine]) -> impl Iterator<Item = &AlertLine> {
    let is_odd =
        |alert: &AlertLine| !matches!(alert.severity, AlertSeverity::Info | AlertSeverity::Success);
    let (last, before) = alerts.split_at(alerts.len().min(LAST));
    let odd = before.iter().filter(move |alert| is_odd(alert));
    last.iter().chain(odd.take(ODD))
}

impl HarnessFleets {
    fn shown(&self, width: Option<usize>) -> String {
        if self.fleets.is_empty() {
            return "There are no fleets yet.\n`autonoe harness run ROADMAP` begins one.\n"
                .to_owned();
        }
        let fleets: Vec<_> = self.fleets.iter().map(|it| it.shown(width)).collect();
        fleets.join("\n")
    }
}

/// Writes how many are done: `1 of 1 member done`, `2 of 3 members done`.
pub(super) fn members_done(done: u32, all: u32) -> String {
    let plural = if all == 1 { "" } else { "s" };
    format!("{done} of {all} member{plural} done")
}

/// Writes members below each other.
pub(super) fn members(members: &[Member], width: Option<usize>) -> String {
    let head = [
        "MEMBER", "STATUS", "DONE", "TURN", "COST", "BACKEND", "ABOUT",
    ];
    let rows = members.iter().map(|member| {
        let backend = match &member.model {
            Some(model) => format!("{}@{model}", member.backend),
            None => member.backend.clone(),
        };
        let about = member.error.as_ref().or(member.task.as_ref());
        [
            harmless_line(member.id.as_str()),
            member.status.to_string(),
            member.progress.to_string(),
            member.iteration.to_string(),
            cost_words(&member.cost),
            harmless_line(&backend),
            about.map_or_else(String::new, |about| shorten(about)),
        ]
    });
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .collect();
    columns_within(2, &rows, width)
}
