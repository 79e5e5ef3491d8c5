//! [`EntryFormatter`]: formats the lines of a journal for people.

use std::collections::BTreeMap;

use autonoe_core::agent::SessionReport;
use autonoe_core::event::{InstructionName, WaitReason};
use autonoe_core::project::JournalEntry;
use autonoe_core::run::{JournalLine, LimitOverrides, RunAction, RunFact};
use autonoe_core::time::{format_duration, format_time};
use autonoe_core::{Budget, OnQuota, Project};

use super::flow_formatter::{FlowFormatter, format_flow_result};
use super::lines::status_line;
use super::{LEDGER_EDITED, no_progress, shorten, summary};

/// Formats a run line by line.
///
/// It needs no later lines, so that it can follow a run in progress.
#[derive(Debug)]
pub struct EntryFormatter {
    sessions: BTreeMap<u32, Tally>,
    flow: FlowFormatter,
}

/// Counts of a session so far.
#[derive(Debug, Default)]
struct Tally {
    changes: u32,
    denied: u32,
}

impl EntryFormatter {
    /// Creates a formatter for a run of `project`.
    pub fn new(project: &Project) -> Self {
        Self {
            sessions: BTreeMap::new(),
            flow: FlowFormatter::new(project),
        }
    }

    /// Creates a formatter for a run of a project on another host.
    pub fn remote() -> Self {
        Self {
            sessions: BTreeMap::new(),
            flow: FlowFormatter::default(),
        }
    }

    /// Appends the text of `entry` to `text`, if it has one.
    pub fn format(&mut self, entry: &JournalEntry, text: &mut String) {
        let JournalEntry { run, at, line, .. } = entry;
        let mut push_line = |message: String| {
            text.push_str(&format!("{}  {message}\n", format_time(*at)));
        };
        match line {
            JournalLine::RunStarted { limits, .. } => {
                push_line(format!("Run {} started ({})", run, limits.mode));
            }
            JournalLine::FlowStarted {
                flow,
                definition,
                parameters,
                ..
            } => {
                push_line(format!("Flow {} started ({run})", shorten(flow)));
                self.flow.starts(flow, definition, parameters);
            }
            JournalLine::FlowFact { fact } => {
                for line in self.flow.format(fact) {
                    push_line(line);
                }
            }
            JournalLine::RunResumed { .. } | JournalLine::FlowResumed { .. } => {
                push_line("Resumed".to_owned());
            }
            JournalLine::SessionStarted {
                number,
                instruction,
            } => push_line(self.started(*number, instruction)),
            JournalLine::SessionEnded { number, result } => push_line(self.ended(*number, result)),
            JournalLine::FlowEnded { report, result } => {
                let text = report.to_string();
                let mut lines = text.lines();
                if let Some(ended) = format_flow_result(result) {
                    // It replaces the first line, which is less precise.
                    lines.next();
                    push_line(ended);
                }
                for line in lines {
                    push_line(shorten(line));
                }
            }
            JournalLine::Fact { fact, action } => {
                if let Some(message) = self.fact(fact) {
                    push_line(message);
                }
                if let Some(message) = self.action(action) {
                    push_line(message);
                }
            }
            JournalLine::StatusChanged { session, change } => {
                self.sessions.entry(*session).or_default().changes += 1;
                push_line(format!("  {}", status_line(change).text));
            }
            JournalLine::Deprecated { session, id } => {
                self.sessions.entry(*session).or_default().changes += 1;
                push_line(format!("  [DEPRECATED] {}", shorten(id.as_str())));
            }
            JournalLine::Verified { session, id } => {
                self.sessions.entry(*session).or_default().changes += 1;
                push_line(format!("  [VERIFIED] {}", shorten(id.as_str())));
            }
            JournalLine::LedgerRestored { foreign, .. } => {
                push_line(format!("  [LEDGER] {}", shorten(&foreign.to_string())));
            }
            JournalLine::LedgerEdited { .. } => push_line(format!("[LEDGER] {LEDGER_EDITED}")),
            JournalLine::Denied {
                session,
                tool,
                target,
                by,
                reason,
                ..
            } => {
                self.sessions.entry(*session).or_default().denied += 1;
                let target = target
                    .as_deref()
                    .map_or_else(String::new, |target| format!(": {}", shorten(target)));
                let (tool, by, reason) = (shorten(tool), shorten(by), shorten(reason));
                push_line(format!("  [DENIED] {tool}{target}"));
                push_line(format!("    {by}: {reason}"));
            }
            JournalLine::RunEnded { report } => {
                for line in summary(report) {
                    push_line(shorten(&line));
                }
            }
            _ => {}
        }
    }

    fn fact(&mut self, fact: &RunFact) -> Option<String> {
        Some(match fact {
            RunFact::SessionEnded { number, result, .. } => self.ended(*number, result),
            RunFact::SessionLost { number } => {
                format!("Session {number} was lost because its process ended; its cost is unknown")
            }
            RunFact::InstructionSelected {
                number,
                instruction,
            } => {
                let instruction = shorten(instruction.as_str());
                format!("Session {number}: selected instruction {instruction}")
            }
            RunFact::LimitsChanged { limits, .. } => {
                format!("Limits changed: {}", format_limits(limits))
            }
            RunFact::Cancelled => "Interrupted".to_owned(),
            RunFact::PauseRequested => "Pause requested".to_owned(),
            RunFact::ResumeRequested { .. } => "Resume requested".to_owned(),
            RunFact::MessageQueued { text } | RunFact::MessageSteered { text } => {
                format!("Message to the agent: {}", shorten(text))
            }
            _ => return None,
        })
    }

    fn action(&mut self, action: &RunAction) -> Option<String> {
        match action {
            RunAction::StartSession(plan) => Some(self.started(plan.number, &plan.instruction)),
            RunAction::Wait { reason, until } => {
                let until = format_time(*until);
                match reason {
                    WaitReason::Pause => None,
                    WaitReason::Quota => Some(format!("Waiting for the quota until {until}")),
                    WaitReason::QuotaBackoff => {
                        Some(format!("Waiting for the quota; next try at {until}"))
                    }
                    WaitReason::RetryAfter => {
                        Some(format!("Waiting until {until}, as the service requested"))
                    }
                }
            }
            RunAction::Hold => Some("Paused".to_owned()),
            _ => None,
        }
    }

    fn started(&mut self, number: u32, instruction: &InstructionName) -> String {
        self.sessions.insert(number, Tally::default());
        let instruction = shorten(instruction.as_str());
        format!("Session {number} started ({instruction})")
    }

    fn ended(&mut self, number: u32, result: &SessionReport) -> String {
        let tally = self.sessions.remove(&number).unwrap_or_default();
        let mut parts = vec![format_duration(result.duration), result.cost.to_string()];
        for (count, one, many) in [
            (tally.changes, "change", "changes"),
            (tally.denied, "call denied", "calls denied"),
        ] {
            match count {
                0 => {}
                1 => parts.push(format!("1 {one}")),
                count => parts.push(format!("{count} {many}")),
            }
        }
        parts.extend(no_progress(result).map(str::to_owned));
        let end = shorten(&result.to_string());
        format!("Session {number} {end} ({})", parts.join(", "))
    }
}

/// Formats the given limits, by the names of their options.
fn format_limits(limits: &LimitOverrides) -> String {
    let Budget {
        cost_usd,
        tokens,
        time,
    } = limits.budget;
    let on_quota = limits.on_quota.map(|on_quota| match on_quota {
        OnQuota::Wait => "wait".to_owned(),
        OnQuota::Stop => "stop".to_owned(),
    });
    let all = [
        (
            "max iterations",
            limits.max_iterations.map(|max| max.to_string()),
        ),
        ("max retries", limits.max_retries.map(|max| max.to_string())),
        (
            "max stalled sessions",
            limits.max_stalled_sessions.map(|max| max.to_string()),
        ),
        ("max cost", cost_usd.map(|cost| cost.to_string())),
        ("max tokens", tokens.map(|tokens| tokens.to_string())),
        (
            "max time",
            time.map(|time| format!("{} from now", format_duration(time))),
        ),
        ("pause", limits.pause.map(format_duration)),
        ("on quota", on_quota),
    ];
    let options = all
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value?)));
    options.collect::<Vec<_>>().join(", ")
}
