//! Seeded fault injector around any backend and its event streams.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, future};

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl, SessionOutcome, Support};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, SessionSpec,
    StreamEvent,
};
use futures::{StreamExt, stream};

use super::plan::{Fault, FaultHit, Plan, draw};

/// Injects faults into the sessions of any backend, reproducibly by seed.
///
/// The backend itself is not affected, only the view of it: a called tool may have run although its
/// response never arrives. At most one fault hits a session, and it depends only on the seed and
/// the number of the session. By default half of the sessions are hit, by any [`Fault`];
/// [`with_fault_in`](Self::with_fault_in) chooses the session and the fault instead.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::ledger::MemoryRepository;
/// use autonoe_core::run::FixedInstructions;
/// use autonoe_core::{ExitReason, RunControl, SessionRunner};
/// use autonoe_testkit::{Fault, FaultyAgents, ScriptedBackend, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let agents = ScriptedBackend::new([SessionScript::new("plans").ends()]).unverified();
/// let faulty = Arc::new(FaultyAgents::new(agents, 42).with_fault_in(1, Fault::Silence));
///
/// let runner = SessionRunner::builder("/srv/project")
///     .agents(faulty.clone())
///     .repository(MemoryRepository::new())
///     .instructions(FixedInstructions::new([(InstructionName::Initializer, "Plan.")]))
///     .clock(VirtualClock::new())
///     .max_retries(0)
///     .build()?;
/// let report = runner.run(&RunControl::new()).await;
///
/// assert!(matches!(report.exit, ExitReason::MaxRetriesExceeded { .. }), "{report}");
/// assert_eq!(faulty.hits()[0].to_string(), "session 1: silence");
/// assert_eq!(faulty.disposed(), faulty.created());
/// # Ok::<(), autonoe_core::run::BuildError>(())
/// # }).expect("it builds");
/// ```
pub struct FaultyAgents {
    inner: Arc<dyn AgentClientFactory>,
    seed: u64,
    /// Percentage of sessions that are hit. By default 50, or only those in `chosen`.
    percent: Option<u8>,
    faults: Vec<Fault>,
    /// The faults of single sessions.
    chosen: BTreeMap<u32, Fault>,
    seen: Arc<SessionLog>,
}

impl FaultyAgents {
    /// Wraps `inner`, a backend or an `Arc` of one.
    pub fn new(inner: impl AgentClientFactory + 'static, seed: u64) -> Self {
        Self {
            inner: Arc::new(inner),
            seed,
            percent: None,
            faults: Fault::ALL.to_vec(),
            chosen: BTreeMap::new(),
            seen: Arc::default(),
        }
    }

    /// Sets the possible faults; all by default.
    #[must_use]
    pub fn with_faults(mut self, faults: impl IntoIterator<Item = Fault>) -> Self {
        self.faults = faults.into_iter().collect();
        self
    }

    /// Sets the percentage of sessions that are hit; 50 by default, 100 and more hit all.
    #[must_use]
    pub fn with_rate_percent(mut self, percent: u8) -> Self {
        self.percent = Some(percent);
        self
    }

    /// Injects `fault` into session `session`. The seed only decides the position in the session.
    ///
    /// Sessions that are not named are then spared, unless a [rate](Self::with_rate_percent) is set
    /// as well.
    ///
    /// ```
    /// use autonoe_testkit::{Fault, FaultyAgents, ScriptedBackend};
    ///
    /// let faulty = FaultyAgents::new(ScriptedBackend::new([]), 1).with_fault_in(2, Fault::MissingEnd);
    ///
    /// assert_eq!(faulty.planned(1), None);
    /// assert_eq!(faulty.planned(2), Some(Fault::MissingEnd));
    /// ```
    #[must_use]
    pub fn with_fault_in(mut self, session: u32, fault: Fault) -> Self {
        self.chosen.insert(session, fault);
        self
    }

    fn plan(&self, session: u32) -> Option<Plan> {
        if let Some(fault) = self.chosen.get(&session) {
            return draw(self.seed, session, 100, &[*fault]);
        }
        let by_default = if self.chosen.is_empty() { 50 } else { 0 };
        let percent = self.percent.unwrap_or(by_default);
        draw(self.seed, session, percent, &self.faults)
    }

    /// Returns the fault planned for session `number`, or `None` if it is spared.
    pub fn planned(&self, number: u32) -> Option<Fault> {
        self.plan(number).map(|plan| plan.fault)
    }

    /// Returns the faults that took effect, in order.
    ///
    /// A planned fault that found no occasion is not included, such as [`Fault::QuotaInTool`] in a
    /// session that called no tool.
    pub fn hits(&self) -> Vec<FaultHit> {
        self.seen
            .hits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the number of created clients.
    pub fn created(&self) -> usize {
        self.seen.created.load(Ordering::Relaxed)
    }

    /// Returns the number of disposed clients.
    pub fn disposed(&self) -> usize {
        self.seen.disposed.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl AgentClientFactory for FaultyAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.inner.probe().await
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        self.inner.cost_of(model)
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let session = spec.key.number;
        let inner = self.inner.create(spec)?;
        self.seen.created.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(FaultyClient {
            inner,
            session,
            plan: self.plan(session),
            seen: self.seen.clone(),
        }))
    }
}

impl fmt::Debug for FaultyAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyAgents")
            .field("seed", &self.seed)
            .field("hits", &self.hits())
            .finish_non_exhaustive()
    }
}

/// Observations of all sessions.
#[derive(Debug, Default)]
pub(super) struct SessionLog {
    pub(super) hits: Mutex<Vec<FaultHit>>,
    pub(super) created: AtomicUsize,
    pub(super) disposed: AtomicUsize,
}

/// A client whose streams have the fault of `plan`.
pub(super) struct FaultyClient {
    pub(super) inner: Box<dyn AgentClient>,
    pub(super) session: u32,
    pub(super) plan: Option<Plan>,
    pub(super) seen: Arc<SessionLog>,
}

#[async_trait]
impl AgentClient for FaultyClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let stream = self.inner.query(prompt);
        let Some(plan) = self.plan else {
            return stream;
        };
        let hit = FaultHit {
            session: self.session,
            fault: plan.fault,
        };
        let seen = self.seen.clone();
        inject_fault(stream, plan, move || {
            seen.hits
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(hit);
        })
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.seen.disposed.fetch_add(1, Ordering::Relaxed);
        self.inner.dispose().await
    }
}

type Item = Result<StreamEvent, AgentError>;

/// Injects the fault of `plan` into `inner`; `on_hit` is called once, when it takes effect.
pub(super) fn inject_fault<'a>(
    inner: MessageStream<'a>,
    plan: Plan,
    on_hit: impl FnOnce() + Send + 'a,
) -> MessageStream<'a> {
    let disturbed = FaultyStream {
        inner,
        plan,
        on_hit: Some(Box::new(on_hit)),
        waiting: VecDeque::new(),
        seen: 0,
        first_call: None,
        over: false,
    };
    stream::unfold(disturbed, |mut disturbed| async move {
        let item = disturbed.next().await?;
        Some((item, disturbed))
    })
    .boxed()
}

struct FaultyStream<'a> {
    inner: MessageStream<'a>,
    plan: Plan,
    on_hit: Option<Box<dyn FnOnce() + Send + 'a>>,
    /// Items to return before the inner stream is polled again.
    waiting: VecDeque<Item>,
    seen: u64,
    first_call: Option<String>,
    over: bool,
}

impl FaultyStream<'_> {
    async fn next(&mut self) -> Option<Item> {
        if let Some(item) = self.waiting.pop_front() {
            return Some(item);
        }
        if self.over {
            return None;
        }
        if self.plan.fault == Fault::SlowDrip {
            self.hit();
            tokio::time::sleep(self.plan.delay).await;
        }
        let item = self.inner.next().await?;
        let event = match item {
            Ok(event) => event,
            Err(error) => return Some(Err(error)),
        };
        let is_end = matches!(event, StreamEvent::End { .. });
        // In a short stream the fault strikes at the end at the latest.
        let is_time = is_end || self.seen >= self.plan.after;
        self.seen += 1;
        match self.plan.fault {
            Fault::CutStream if is_time => self.end_stream(None),
            Fault::MissingEnd if is_end => self.end_stream(None),
            Fault::Silence if is_time => {
                self.hit();
                future::pending().await
            }
            Fault::Panic if is_time => {
                self.hit();
                std::panic::panic_any("the fault injector panics here")
            }
            Fault::ErrorAfterEnd if is_end => {
                self.waiting.push_back(Err(AgentError::new(
                    AgentErrorKind::Crashed,
                    "the fault injector fails after the end",
                )));
                self.end_stream(Some(event))
            }
            Fault::QuotaInTool if matches!(event, StreamEvent::ToolInvocation { .. }) => {
                let outcome = SessionOutcome::QuotaExceeded {
                    message: "the fault injector spent the quota".to_owned(),
                    resets_at: None,
                };
                self.waiting
                    .push_back(Ok(StreamEvent::end(outcome, self.plan.cost)));
                self.end_stream(Some(event))
            }
            Fault::DuplicateCallIds => Some(Ok(self.duplicate(event))),
            Fault::WrongCost => Some(Ok(self.falsify_cost(event))),
            _ => Some(Ok(event)),
        }
    }

    /// Ends the stream with `last` and the waiting items.
    fn end_stream(&mut self, last: Option<StreamEvent>) -> Option<Item> {
        self.hit();
        self.over = true;
        last.map(Ok)
    }

    fn duplicate(&mut self, mut event: StreamEvent) -> StreamEvent {
        if let StreamEvent::ToolInvocation { call_id, .. }
        | StreamEvent::ToolResponse { call_id, .. } = &mut event
        {
            let first = self.first_call.get_or_insert_with(|| call_id.clone());
            call_id.clone_from(first);
            self.waiting.push_back(Ok(event.clone()));
            self.hit();
        }
        event
    }

    fn falsify_cost(&mut self, mut event: StreamEvent) -> StreamEvent {
        if let StreamEvent::End { cost, .. } = &mut event {
            *cost = self.plan.cost;
            self.hit();
        }
        event
    }

    fn hit(&mut self) {
        if let Some(on_hit) = self.on_hit.take() {
            on_hit();
        }
    }
}
