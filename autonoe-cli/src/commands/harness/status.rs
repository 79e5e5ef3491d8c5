//! `autonoe harness status`: prints the fleets of a project.

use std::process::ExitCode;

use autonoe_app::text::{pluralize, sanitize_line, shorten};
use autonoe_core::time::format_duration;
use autonoe_dashboard::{AlertLine, AlertSeverity, Dashboard, FleetPhase, MemberRow, format_cost};
use autonoe_harness::state::FleetRecord;
use autonoe_harness::strategy::{MemberId, MemberReport};
use autonoe_harness::{FleetHome, FleetReport};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::fleet_selection::{check_no_orphans, find_fleet, fleet_home};
use super::snapshot::Watcher;
use crate::args::HarnessStatusArgs;
use crate::cli_env::CliEnv;
use crate::columns::columns_within;
use crate::commands::runtime::block_on;
use crate::commands::status::missing_project_note;
use crate::error::{CliError, OrFailure};

/// Number of most recent alerts that are always shown.
const MAX_RECENT: usize = 3;

/// Maximum number of earlier alerts shown, if they are warnings or errors.
const MAX_PROBLEMS: usize = 5;

/// Output of `autonoe harness status --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HarnessFleets {
    /// The fleets of the project, oldest first.
    fleets: Vec<FleetStatus>,
}

/// A fleet and its state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FleetStatus {
    /// Its name.
    name: String,
    /// The process ID of its coordinator; `null` if none is running.
    coordinator: Option<u32>,
    /// Its current state, with its members and alerts.
    now: Dashboard,
    /// Its result; `null` until it has ended.
    result: Option<FleetResult>,
}

/// Results of the members of a fleet, each and all together.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct FleetResult {
    /// The `type` of the strategy.
    strategy: String,
    /// Whether it succeeded, according to the strategy.
    success: bool,
    /// The results of the started members, in the order of the members.
    results: Vec<MemberReport>,
    /// The members that were never started.
    not_started: Vec<MemberId>,
    /// The winning member, if there is one.
    winner: Option<MemberId>,
    /// The joined output, or that of the winner.
    aggregated_output: Option<String>,
}

impl From<FleetReport> for FleetResult {
    fn from(report: FleetReport) -> Self {
        Self {
            strategy: report.strategy,
            success: report.success,
            results: report.results,
            not_started: report.not_started,
            winner: report.winner,
            aggregated_output: report.aggregated_output,
        }
    }
}

/// Prints the fleets of the project and the state of their members.
pub(super) fn status(args: &HarnessStatusArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let home = fleet_home(&project);
    let fleets = block_on(async {
        Ok(match &args.fleet {
            Some(name) => vec![find_fleet(&home, Some(name)).await?],
            None => {
                check_no_orphans(&home, None).await?;
                home.fleets().await.or_failure()?
            }
        })
    })?;
    let fleets = fleets
        .into_iter()
        .map(|fleet| FleetStatus::new(&home, fleet));
    let fleets = HarnessFleets {
        fleets: fleets.collect::<Result<_, _>>()?,
    };
    env.print_as(args.json, &fleets, |fleets| fleets.format(env.columns))?;
    let needs_note = !args.json && fleets.fleets.is_empty();
    if needs_note && let Some(note) = missing_project_note(&project, &[".harness"]) {
        env.print(&format!("{note}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl FleetStatus {
    fn new(home: &FleetHome, fleet: FleetRecord) -> Result<Self, CliError> {
        let name = fleet.id.clone();
        let now = Watcher::new(home, &name).build_snapshot(&fleet, Timestamp::now())?;
        let coordinator = home.coordinator(&name).or_failure()?;
        Ok(Self {
            name,
            coordinator,
            now,
            result: fleet.result.map(FleetResult::from),
        })
    }

    fn format(&self, width: Option<usize>) -> String {
        let Dashboard {
            phase,
            strategy,
            totals,
            ..
        } = &self.now;
        let state = match (phase, self.coordinator) {
            (FleetPhase::Waiting, None) => {
                "unfinished: run the same command to resume it".to_owned()
            }
            (FleetPhase::Stopping, None) => {
                "stopping without a coordinator: run the same command to end it".to_owned()
            }
            (phase, Some(pid)) => format!("{phase}, coordinator process {pid}"),
            (phase, None) => phase.to_string(),
        };
        let mut text = format!(
            "{} ({strategy}): {state}, {}, {}, {}\n",
            self.name,
            format_members_done(totals.done, totals.total),
            format_duration(self.now.elapsed),
            format_cost(&totals.cost)
        );
        text.push_str(&format_members(&self.now.members, width));
        for member in &self.now.members {
            if let Some(question) = &member.question {
                let (id, question) = (sanitize_line(member.id.as_str()), sanitize_line(question));
                text.push_str(&format!("  {id} asks: {question}\n"));
                text.push_str(&format!("  answer: autonoe harness send {id} TEXT\n"));
            }
        }
        for alert in relevant_alerts(&self.now.alerts) {
            let member = alert.member.as_ref().map(|id| format!(" ({id})"));
            let message = shorten(&alert.message);
            let member = member.unwrap_or_default();
            text.push_str(&format!("  {}{member}: {message}\n", alert.severity));
        }
        text
    }
}

/// Returns the most recent alerts, and earlier warnings and errors.
fn relevant_alerts(alerts: &[AlertLine]) -> impl Iterator<Item = &AlertLine> {
    let is_problem =
        |alert: &AlertLine| !matches!(alert.severity, AlertSeverity::Info | AlertSeverity::Success);
    let (last, before) = alerts.split_at(alerts.len().min(MAX_RECENT));
    let problems = before.iter().filter(move |alert| is_problem(alert));
    last.iter().chain(problems.take(MAX_PROBLEMS))
}

impl HarnessFleets {
    fn format(&self, width: Option<usize>) -> String {
        if self.fleets.is_empty() {
            return "There are no fleets yet.\nRun `autonoe harness run ROADMAP` to start one.\n"
                .to_owned();
        }
        let fleets: Vec<_> = self.fleets.iter().map(|it| it.format(width)).collect();
        fleets.join("\n")
    }
}

/// Formats the number of finished members: `1 of 1 member done`, `2 of 3 members done`.
pub(super) fn format_members_done(done: u32, all: u32) -> String {
    format!("{done} of {} done", pluralize(all.into(), "member"))
}

/// Formats members as a table.
pub(super) fn format_members(members: &[MemberRow], width: Option<usize>) -> String {
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
            sanitize_line(member.id.as_str()),
            member.status.to_string(),
            member.progress.to_string(),
            member.iteration.to_string(),
            format_cost(&member.cost),
            sanitize_line(&backend),
            about.map_or_else(String::new, |about| shorten(about)),
        ]
    });
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .collect();
    columns_within(2, &rows, width)
}
