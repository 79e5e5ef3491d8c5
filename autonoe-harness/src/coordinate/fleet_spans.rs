//! Tracing spans of a fleet and its members.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::RunId;
use autonoe_core::agent::CostTotal;
use autonoe_core::event::{SpanContext, TraceContext};
use autonoe_core::run::SPAN_TARGET;
use autonoe_core::time::IdSource;
use tracing::Span;
use tracing::field::{Empty, display};

use super::{FleetEvent, FleetEventKind, FleetObserver};
use crate::strategy::{MemberId, MemberReport};

/// Opens `tracing` spans for a fleet and its members, under
/// [`SPAN_TARGET`](autonoe_core::run::SPAN_TARGET) and with the IDs of the trace.
///
/// The fleet is `invoke_workflow FLEET`. Below it, each member is `invoke_agent MEMBER`. The
/// [context of a member](Self::member) makes the spans of its process part of the same trace: pass
/// it to the process as environment variables, and there to
/// [`SessionRunnerBuilder::trace`](autonoe_core::run::SessionRunnerBuilder::trace).
///
/// Without a subscriber no spans are opened, but the contexts are the same.
///
/// ```
/// use autonoe_core::time::RandomIds;
/// use autonoe_harness::coordinate::MemberJob;
/// use autonoe_harness::{FleetSpans, MemberCommand};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let spans = std::sync::Arc::new(FleetSpans::new(RandomIds::new()?, None));
///
/// let of_members = spans.clone();
/// let program = MemberCommand::new("/usr/bin/autonoe").env_for(move |order| {
///     let context = MemberJob::from_run(order).map(|job| of_members.member(&job.member));
///     let variables = context.iter().flat_map(|context| context.environment());
///     variables.map(|(name, value)| (name.into(), value.into())).collect()
/// });
/// # drop((program, spans));
/// # Ok(())
/// # }
/// # example().expect("random numbers");
/// ```
pub struct FleetSpans(Mutex<State>);

struct State {
    ids: Arc<dyn IdSource>,
    /// The span of another process, or of an earlier coordinator, that is the parent of the fleet.
    parent: Option<TraceContext>,
    at: SpanContext,
    fleet: Option<Span>,
    members: HashMap<MemberId, MemberSpan>,
}

struct MemberSpan {
    at: SpanContext,
    /// `None` once the span is closed.
    span: Option<Span>,
    is_stopping: bool,
}

impl FleetSpans {
    /// Starts a trace, or continues the one of `parent`.
    pub fn new(ids: impl IdSource + 'static, parent: Option<TraceContext>) -> Self {
        let ids: Arc<dyn IdSource> = Arc::new(ids);
        Self(Mutex::new(State {
            at: place_below(&ids, parent.as_ref()),
            ids,
            parent,
            fleet: None,
            members: HashMap::new(),
        }))
    }

    /// Returns the context of the span of the fleet.
    pub fn fleet(&self) -> TraceContext {
        let state = self.state();
        state.context(&state.at)
    }

    /// Returns the context of a member's span, and opens that span unless it is open or closed
    /// already. A member's process requests its context before the coordinator reports the start,
    /// because the report follows the start of the process.
    pub fn member(&self, member: &MemberId) -> TraceContext {
        let mut state = self.state();
        let at = state.open_member(member);
        state.context(&at)
    }

    /// Puts the fleet below the span of the coordinator that started it. `FleetRun` calls this for
    /// a fleet that it resumes. Has no effect on open spans.
    pub fn resume(&self, first: TraceContext) {
        let mut state = self.state();
        state.at = place_below(&state.ids, Some(&first));
        state.parent = Some(first);
    }

    /// Opens the span of the fleet, unless it is open.
    pub(crate) fn open(&self, fleet: &str, strategy: &str) {
        let mut state = self.state();
        if state.fleet.is_none() {
            state.fleet = Some(with_ids(fleet_span(fleet, strategy), &state.at));
        }
    }

    /// Closes all open spans. `FleetRun` calls this when its run ends or is dropped; otherwise they
    /// are closed when this value is dropped.
    pub fn close(&self) {
        let mut state = self.state();
        for member in state.members.values_mut() {
            member.span = None;
        }
        state.fleet = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn context(&self, at: &SpanContext) -> TraceContext {
        match &self.parent {
            Some(parent) => parent.with_span(at),
            None => TraceContext::from(at),
        }
    }

    fn open_member(&mut self, member: &MemberId) -> SpanContext {
        if let Some(known) = self.members.get(member) {
            return known.at;
        }
        let at = self.ids.child_span(&self.at);
        let parent = self.fleet.as_ref().and_then(Span::id);
        let opened = MemberSpan {
            at,
            span: Some(with_ids(member_span(parent, member), &at)),
            is_stopping: false,
        };
        self.members.insert(member.clone(), opened);
        at
    }

    fn member_started(&mut self, member: &MemberId, run: &RunId) {
        self.open_member(member);
        let opened = self.members.get(member).and_then(|it| it.span.as_ref());
        if let Some(span) = opened {
            span.record("autonoe.run.id", run.as_str());
        }
    }

    fn member_ended(&mut self, result: &MemberReport) {
        let Some(member) = self.members.get_mut(&result.id) else {
            return;
        };
        let Some(span) = member.span.take() else {
            return;
        };
        let outcome = match (result.success, member.is_stopping) {
            (true, _) => "succeeded",
            (false, true) => "stopped",
            (false, false) => "failed",
        };
        span.record("autonoe.member.outcome", outcome);
        record_cost(&span, &result.cost);
        if outcome == "failed" {
            record_failure(&span);
        }
    }
}

impl FleetObserver for FleetSpans {
    fn on_event(&self, event: &FleetEvent) {
        match &event.kind {
            FleetEventKind::FleetStarted { strategy, .. } => self.open(&event.fleet, strategy),
            FleetEventKind::Started { member, run }
            | FleetEventKind::RunFound {
                member,
                run,
                has_ended: false,
            } => self.state().member_started(member, run),
            FleetEventKind::Stopping { member, .. } => {
                if let Some(member) = self.state().members.get_mut(member) {
                    member.is_stopping = true;
                }
            }
            FleetEventKind::Ended { result } => self.state().member_ended(result),
            FleetEventKind::Finished { success: false, .. } => {
                if let Some(span) = &self.state().fleet {
                    record_failure(span);
                }
            }
            FleetEventKind::RunFound {
                has_ended: true, ..
            }
            | FleetEventKind::WaitsForBudget { .. }
            | FleetEventKind::Paused
            | FleetEventKind::Resumed
            | FleetEventKind::CutShort { .. }
            | FleetEventKind::Finished { success: true, .. } => {}
        }
    }
}

impl fmt::Debug for FleetSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetSpans")
            .field("fleet", &self.fleet())
            .finish_non_exhaustive()
    }
}

fn place_below(ids: &Arc<dyn IdSource>, parent: Option<&TraceContext>) -> SpanContext {
    match parent {
        Some(parent) => ids.child_span(&SpanContext::root(parent.trace(), parent.span())),
        None => ids.root_span(),
    }
}

fn fleet_span(fleet: &str, strategy: &str) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET,
        "invoke_workflow",
        otel.name = format!("invoke_workflow {fleet}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = "invoke_workflow",
        gen_ai.workflow.name = fleet,
        autonoe.fleet.strategy = strategy,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
    )
}

fn member_span(parent: Option<tracing::Id>, member: &MemberId) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET,
        parent: parent,
        "invoke_agent",
        otel.name = format!("invoke_agent {member}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = member.as_str(),
        autonoe.run.id = Empty,
        autonoe.member.outcome = Empty,
        autonoe.cost.usd = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_span_id = Empty,
    )
}

fn with_ids(span: Span, at: &SpanContext) -> Span {
    span.record("trace_id", display(at.trace));
    span.record("span_id", display(at.span));
    if let Some(parent) = at.parent {
        span.record("parent_span_id", display(parent));
    }
    span
}

/// Records a failure. The reason is left out: it is free text, which may quote the project.
fn record_failure(span: &Span) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", "_OTHER");
}

/// Records the cost if it is fully known.
fn record_cost(span: &Span, cost: &CostTotal) {
    if let Some(cost) = cost.exact() {
        span.record("autonoe.cost.usd", cost.to_f64());
    }
}
