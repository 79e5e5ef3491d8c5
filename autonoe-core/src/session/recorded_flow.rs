//! [`RecordedFlow`], an interrupted flow as recorded in its journal.

use jiff::Timestamp;
use serde_json::Value;

use super::FlowStart;
use crate::agent::{CostTotal, TokenUsage};
use crate::run::JournalLine;
use crate::time::RunId;

/// An interrupted flow, with everything that is needed to resume it.
///
/// ```
/// use autonoe_core::run::JournalLine;
/// use autonoe_core::session::RecordedFlow;
/// use autonoe_core::time::Epoch;
/// use autonoe_core::RunId;
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// let started = JournalLine::FlowStarted {
///     flow: "review".to_owned(),
///     definition: "1f0c9a".to_owned(),
///     parameters: json!({}),
///     epoch: Epoch(1),
/// };
/// let fact = JournalLine::FlowFact { fact: json!({"step": "plan"}) };
/// let at = Timestamp::UNIX_EPOCH;
///
/// let interrupted = RecordedFlow::replay(RunId::new("run"), [(at, &started), (at, &fact)])
///     .expect("it did not come to its end");
///
/// assert_eq!(interrupted.start.flow, "review");
/// assert_eq!(interrupted.facts, [json!({"step": "plan"})]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedFlow {
    /// The run.
    pub run: RunId,
    /// The parameters of its start.
    pub start: FlowStart,
    /// The time of its start.
    pub started_at: Timestamp,
    /// The recorded facts, in order.
    pub facts: Vec<Value>,
    /// The number of its last session; 0 if it had none.
    pub sessions: u32,
    /// The session that was running at the interruption.
    pub running_session: Option<u32>,
    /// The cost of its sessions. A session that was lost with its process is an unknown part.
    pub cost: CostTotal,
    /// The tokens they used.
    pub tokens: TokenUsage,
}

impl RecordedFlow {
    /// Replays the lines of one flow; `None` if it did not start or has ended, or if the lines are
    /// those of a run that is not a flow.
    pub fn replay<'a>(
        run: RunId,
        lines: impl IntoIterator<Item = (Timestamp, &'a JournalLine)>,
    ) -> Option<Self> {
        let mut lines = lines.into_iter();
        let (started_at, start) = lines.find_map(|(at, line)| Some((at, flow_start(line)?)))?;
        let mut flow = Self::new(run, start, started_at);
        let mut lost_sessions = LostSessions::default();
        for (_, line) in lines {
            // The engine records the end of a run that it drove remotely.
            if let JournalLine::FlowEnded { .. } | JournalLine::RunEnded { .. } = line {
                return None;
            }
            lost_sessions.note(line);
            flow.note(line);
        }
        let lost = lost_sessions.lost + u32::from(lost_sessions.is_under_way);
        flow.cost.unknown_parts = flow.cost.unknown_parts.saturating_add(lost);
        Some(flow)
    }

    /// Creates a flow that starts now.
    pub(crate) fn new(run: RunId, start: FlowStart, started_at: Timestamp) -> Self {
        Self {
            run,
            start,
            started_at,
            facts: Vec::new(),
            sessions: 0,
            running_session: None,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
        }
    }

    fn note(&mut self, line: &JournalLine) {
        match line {
            JournalLine::FlowFact { fact } => self.facts.push(fact.clone()),
            JournalLine::SessionStarted { number, .. } => {
                self.sessions = *number;
                self.running_session = Some(*number);
            }
            JournalLine::SessionEnded { result, .. } => {
                self.running_session = None;
                self.cost.merge(result.cost);
                self.tokens += result.tokens;
            }
            _ => {}
        }
    }
}

fn flow_start(line: &JournalLine) -> Option<FlowStart> {
    let JournalLine::FlowStarted {
        flow,
        definition,
        parameters,
        ..
    } = line
    else {
        return None;
    };
    Some(FlowStart {
        flow: flow.clone(),
        definition: definition.clone(),
        parameters: parameters.clone(),
    })
}

/// Counts the sessions without a recorded end.
#[derive(Default)]
struct LostSessions {
    lost: u32,
    is_under_way: bool,
}

impl LostSessions {
    fn note(&mut self, line: &JournalLine) {
        let begins = match line {
            JournalLine::SessionStarted { .. } => true,
            JournalLine::FlowResumed { .. } => false,
            JournalLine::SessionEnded { .. } => {
                self.is_under_way = false;
                return;
            }
            _ => return,
        };
        self.lost += u32::from(self.is_under_way);
        self.is_under_way = begins;
    }
}
