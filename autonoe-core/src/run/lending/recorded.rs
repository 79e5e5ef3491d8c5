//! [`RecordedFlow`], an interrupted flow as recorded in its journal.

use jiff::Timestamp;
use serde_json::Value;

use super::FlowStart;
use crate::domain::{CostTotal, RunId, TokenUsage};
use crate::run::JournalLine;

/// An interrupted flow, with everything that is needed to resume it.
///
/// ```
/// use autonoe_core::{Epoch, JournalLine, RecordedFlow, RunId};
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
/// let broke_off = RecordedFlow::replay(RunId::new("run"), [(at, &started), (at, &fact)])
///     .expect("it did not come to its end");
///
/// assert_eq!(broke_off.start.flow, "review");
/// assert_eq!(broke_off.facts, [json!({"step": "plan"})]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedFlow {
    /// The run.
    pub run: RunId,
    /// What it began with.
    pub start: FlowStart,
    /// When it began.
    pub started_at: Timestamp,
    /// What it took note of, in order.
    pub facts: Vec<Value>,
    /// The number of its last session; 0 if it has had none.
    pub sessions: u32,
    /// The session that was under way when it was interrupted.
    pub session_under_way: Option<u32>,
    /// What its sessions have cost. One that was lost with its process is an unknown part.
    pub cost: CostTotal,
    /// The tokens they used.
    pub tokens: TokenUsage,
}

impl RecordedFlow {
    /// Replays the lines of one flow; `None` if it did not start or came to its end, and for the
    /// lines of a run that is no flow.
    pub fn replay<'a>(
        run: RunId,
        lines: impl IntoIterator<Item = (Timestamp, &'a JournalLine)>,
    ) -> Option<Self> {
        let mut lines = lines.into_iter();
        let (started_at, start) = lines.find_map(|(at, line)| Some((at, start_of(line)?)))?;
        let mut flow = Self::begun(run, start, started_at);
        let mut unseen = UnseenEnd::default();
        for (_, line) in lines {
            // Of a run that an engine elsewhere has driven, the engine tells the end.
            if let JournalLine::FlowEnded { .. } | JournalLine::RunEnded { .. } = line {
                return None;
            }
            unseen.note(line);
            flow.note(line);
        }
        let lost = unseen.lost + u32::from(unseen.is_under_way);
        flow.cost.unknown_parts = flow.cost.unknown_parts.saturating_add(lost);
        Some(flow)
    }

    /// Makes a flow that begins.
    pub(crate) fn begun(run: RunId, start: FlowStart, started_at: Timestamp) -> Self {
        Self {
            run,
            start,
            started_at,
            facts: Vec::new(),
            sessions: 0,
            session_under_way: None,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
        }
    }

    fn note(&mut self, line: &JournalLine) {
        match line {
            JournalLine::FlowFact { fact } => self.facts.push(fact.clone()),
            JournalLine::SessionStarted { number, .. } => {
                self.sessions = *number;
                self.session_under_way = Some(*number);
            }
            JournalLine::SessionEnded { result, .. } => {
                self.session_under_way = None;
                self.cost.merge(result.cost);
                self.tokens += result.tokens;
            }
            _ => {}
        }
    }
}

fn start_of(line: &JournalLine) -> Option<FlowStart> {
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

/// Counts the sessions whose end nobody saw.
#[derive(Default)]
struct UnseenEnd {
    lost: u32,
    is_under_way: bool,
}

impl UnseenEnd {
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
