//! Explores every path through a flow, and finds the steps from which it cannot finish.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::edges::{Edge, EdgeKind, edges, escalation_step};
use super::effort::{StepBounds, VisitBounds, VisitCounts, step_bounds};
use crate::definition::{AfterFailure, ReturnFlow, Step, StepId, StepsRegistry, Target, WorkStep};

/// Maximum number of explored states. Only large counts in large flows exceed it.
const MOST: usize = 100_000;

/// Result of the exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The flow can finish from every reachable state.
    Finishes,
    /// The flow can reach these steps in a state from which it cannot finish.
    CannotFinish {
        /// The steps.
        steps: BTreeSet<StepId>,
        /// Whether no path can finish.
        from_the_start: bool,
    },
    /// There are too many states to explore.
    TooLarge,
}

/// The state of a path: the current step, and what happened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PathState {
    step: usize,
    /// Consecutive visits of this step; 0 if the limit is irrelevant.
    in_a_row: u32,
    iterations: u64,
    checks: u64,
    /// The reached phases, as a bit set.
    phases: u64,
    /// Whether the agent has answered.
    is_answered: bool,
}

/// Explores every path through `registry` for a flow that is complete by `formula`.
///
/// Otherwise invalid steps, such as one with a missing target, count as finishing, so that each
/// mistake is reported only once.
pub(crate) fn explore(registry: &StepsRegistry, formula: &Formula) -> Verdict {
    Explorer::new(registry, formula).run()
}

struct Explorer<'a> {
    registry: &'a StepsRegistry,
    formula: &'a Formula,
    steps: Vec<Node<'a>>,
    index: BTreeMap<&'a StepId, usize>,
    phases: Vec<String>,
    /// Upper limits of the counts.
    most_iterations: u64,
    most_checks: u64,
    /// Whether the limit of consecutive visits is relevant.
    counts_rows: bool,
}

impl<'a> Explorer<'a> {
    fn new(registry: &'a StepsRegistry, formula: &'a Formula) -> Self {
        let ids = registry.steps.keys();
        let index = ids.enumerate().map(|(at, id)| (id, at)).collect();
        let mut leaves = Vec::new();
        formula.leaves(&mut leaves);
        let (mut phases, mut iterations, mut checks) = (BTreeSet::new(), 0, 0);
        for leaf in leaves {
            match leaf {
                Formula::Iterations(number) => iterations = iterations.max(*number),
                Formula::Checks(number) => checks = checks.max(*number),
                Formula::Phases(names) => phases.extend(names.iter().cloned()),
                _ => {}
            }
        }
        let steps: Vec<Node<'a>> = registry
            .steps
            .iter()
            .map(|(id, step)| node(id, step, registry))
            .collect();
        let out_edges = steps.iter().flat_map(|node| {
            let rows = u64::from(registry.limits.step_loop).max(1);
            node.out_edges.iter().map(move |out_edge| (out_edge, rows))
        });
        let (mut longest, mut most_checked) = (0_u64, 0_u64);
        for (out_edge, rows) in out_edges {
            let rows = if out_edge.is_in_a_row { rows } else { 1 };
            for counts in &out_edge.counts {
                longest = longest.saturating_add(counts.iterations.saturating_mul(rows));
                most_checked = most_checked.saturating_add(counts.checks.saturating_mul(rows));
            }
        }
        Self {
            registry,
            formula,
            steps,
            index,
            // Without counts, a consecutive visit only matters if it reaches a new phase or is the
            // first one with an answer.
            counts_rows: iterations > 0
                || checks > 0
                || registry.limits.step_loop as usize <= phases.len() + 3,
            phases: phases.into_iter().take(64).collect(),
            // A path that counts further than all steps together is in a cycle, which it can repeat
            // any number of times.
            most_iterations: iterations.min(longest.saturating_add(1)).max(1),
            most_checks: checks.min(most_checked.saturating_add(1)),
        }
    }

    fn run(&self) -> Verdict {
        let Some(entry) = self.index.get(&self.registry.entry_step) else {
            return Verdict::Finishes;
        };
        let first = PathState {
            step: *entry,
            in_a_row: u32::from(self.counts_rows),
            iterations: 0,
            checks: 0,
            phases: 0,
            is_answered: false,
        };
        let mut known = HashMap::from([(first, 0)]);
        let mut all = vec![first];
        // The predecessors of each state.
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let mut can_finish: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(now) = all.get(at).copied() {
            for successor in self.successors(now) {
                match successor {
                    Successor::Finished => can_finish.push(at),
                    Successor::PathState(next) => {
                        let number = *known.entry(next).or_insert_with(|| {
                            all.push(next);
                            before.push(Vec::new());
                            all.len() - 1
                        });
                        before[number].push(at);
                    }
                }
            }
            if all.len() > MOST {
                return Verdict::TooLarge;
            }
            at += 1;
        }
        let mut finishes = vec![false; all.len()];
        while let Some(number) = can_finish.pop() {
            if !finishes[number] {
                finishes[number] = true;
                can_finish.extend(&before[number]);
            }
        }
        let stuck: BTreeSet<StepId> = all
            .iter()
            .zip(&finishes)
            .filter(|(_, finishes)| !**finishes)
            .map(|(situation, _)| self.steps[situation.step].id.clone())
            .collect();
        if stuck.is_empty() {
            Verdict::Finishes
        } else {
            Verdict::CannotFinish {
                steps: stuck,
                from_the_start: !finishes[0],
            }
        }
    }

    fn successors(&self, now: PathState) -> Vec<Successor> {
        let node = &self.steps[now.step];
        if node.is_broken {
            return vec![Successor::Finished];
        }
        let mut found = Vec::new();
        for out_edge in &node.out_edges {
            for counts in &out_edge.counts {
                let then = self.add_counts(now, counts);
                let may_hold = self.holds(then, StepPosition::AtStep, Reachability::Possible);
                if !node.is_gateway && may_hold {
                    found.push(Successor::Finished);
                }
                // A condition that certainly holds ends the path here.
                if !self.holds(then, StepPosition::AtStep, Reachability::Certain) || node.is_gateway
                {
                    found.extend(self.successor(then, out_edge));
                }
            }
        }
        found
    }

    fn successor(&self, mut then: PathState, out_edge: &OutEdge) -> Option<Successor> {
        let Target::Step(id) = out_edge.to.as_ref()? else {
            let is_complete = self.holds(then, StepPosition::AtEnd, Reachability::Possible);
            return is_complete.then_some(Successor::Finished);
        };
        let Some(next) = self.index.get(id) else {
            return Some(Successor::Finished);
        };
        if self.counts_rows {
            let is_same = then.step == *next && out_edge.is_in_a_row;
            then.in_a_row = if is_same { then.in_a_row + 1 } else { 1 };
            if then.in_a_row > self.registry.limits.step_loop {
                return None;
            }
        }
        then.step = *next;
        Some(Successor::PathState(then))
    }

    fn add_counts(&self, mut now: PathState, counts: &VisitCounts) -> PathState {
        let iterations = now.iterations.saturating_add(counts.iterations);
        now.iterations = iterations.min(self.most_iterations);
        let checks = now.checks.saturating_add(counts.checks);
        now.checks = checks.min(self.most_checks);
        for (bit, phase) in self.phases.iter().enumerate() {
            if counts.phases.contains(phase) {
                now.phases |= 1 << bit;
            }
        }
        now.is_answered |= counts.is_answered;
        now
    }

    fn holds(&self, then: PathState, place: StepPosition, reachability: Reachability) -> bool {
        // The flow cannot be complete before the first answer.
        then.is_answered
            && self.formula.holds(&|leaf| match leaf {
                Formula::End => place == StepPosition::AtEnd,
                Formula::Iterations(number) => {
                    then.iterations >= (*number).min(self.most_iterations)
                }
                Formula::Checks(number) => then.checks >= (*number).min(self.most_checks),
                Formula::Phases(names) => {
                    let bits = self.phases.iter().enumerate();
                    bits.filter(|(bit, _)| then.phases & (1 << bit) != 0)
                        .any(|(_, phase)| names.contains(phase))
                }
                Formula::Free | Formula::Any(_) | Formula::All(_) => {
                    reachability == Reachability::Possible
                }
            })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StepPosition {
    AtStep,
    AtEnd,
}

/// Whether unpredictable conditions are assumed to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reachability {
    Possible,
    Certain,
}

enum Successor {
    Finished,
    PathState(PathState),
}

/// The completion condition, as far as the graph determines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// The steps reached their end.
    End,
    /// A number of iterations is reached.
    Iterations(u64),
    /// A number of checks is reached.
    Checks(u64),
    /// A step of one of these phases passed.
    Phases(Vec<String>),
    /// It may hold after any iteration, which is unpredictable.
    Free,
    /// One of these holds.
    Any(Vec<Formula>),
    /// All of these hold.
    All(Vec<Formula>),
}

impl Formula {
    /// Collects the formulas without parts.
    fn leaves<'a>(&'a self, found: &mut Vec<&'a Formula>) {
        match self {
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().for_each(|part| part.leaves(found));
            }
            leaf => found.push(leaf),
        }
    }

    /// Evaluates the formula; `holds` evaluates the formulas without parts.
    fn holds(&self, holds: &impl Fn(&Formula) -> bool) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(holds)),
            Self::All(parts) => parts.iter().all(|part| part.holds(holds)),
            leaf => holds(leaf),
        }
    }
}

/// A step as a node of the graph.
pub(super) struct Node<'a> {
    pub(super) id: &'a StepId,
    pub(super) is_gateway: bool,
    pub(super) out_edges: Vec<OutEdge>,
    /// Whether the step itself is invalid, which other validations report.
    pub(super) is_broken: bool,
}

/// A transition of a step, and what happened in the visit.
pub(super) struct OutEdge {
    /// `None` if the flow ends with an error, unless what happened completes it.
    pub(super) to: Option<Target>,
    /// The bounds of what can happen in the visit.
    pub(super) counts: Vec<VisitCounts>,
    /// Whether it leads to the same step, without another step in between.
    pub(super) is_in_a_row: bool,
}

/// Returns the node of the step `id`.
pub(super) fn node<'a>(id: &'a StepId, step: &'a Step, registry: &'a StepsRegistry) -> Node<'a> {
    let out = edges(id, step, registry);
    let is_broken = match step {
        Step::SubStep(_) => true,
        Step::Gateway(gateway) => gateway.default.is_none(),
        Step::Normal(work) => {
            let is_there = |id| registry.work(id).is_some();
            let does_nothing = work.prompt.is_none() && !work.sub_steps.iter().any(is_there);
            work.plan().on_pass.is_none() || does_nothing
        }
    };
    let called = escalation_step(step)
        .and_then(|id| registry.work(&id))
        .map(|work| (work, step_bounds(work, registry)));
    let done = called.as_ref().map(|(work, effort)| effort.done(work));
    let own = step.work().map(|work| step_bounds(work, registry));
    let mut out_edges: Vec<OutEdge> = out
        .iter()
        .map(|edge| out_edge(edge, id, own.as_ref(), done.as_ref()))
        .collect();
    if let (Some(own), Step::Normal(work)) = (&own, step) {
        let bounds = failure_bounds(own, &work.plan().after_failure, called.as_ref());
        out_edges.extend(bounds.into_iter().map(|visit| OutEdge {
            to: None,
            counts: visit.all(),
            is_in_a_row: false,
        }));
    }
    Node {
        id,
        is_gateway: step.work().is_none(),
        out_edges,
        is_broken,
    }
}

/// Returns what can happen before a flow ends with the error of a step, or of its escalation step.
fn failure_bounds(
    own: &StepBounds,
    after_failure: &AfterFailure,
    called: Option<&(&WorkStep, StepBounds)>,
) -> Vec<VisitBounds> {
    match (after_failure, called) {
        (AfterFailure::Error, _) => vec![own.fail.clone()],
        (AfterFailure::Escalate(escalation), called) => {
            let is_abort = escalation.return_flow == ReturnFlow::Abort;
            match called {
                Some((work, effort)) => {
                    let done = is_abort.then(|| own.fail.then(&effort.done(work)));
                    done.into_iter()
                        .chain([own.fail.then(&effort.fail)])
                        .collect()
                }
                None if is_abort => vec![own.fail.clone()],
                None => Vec::new(),
            }
        }
        (AfterFailure::Goto(_) | AfterFailure::Skip, _) => Vec::new(),
    }
}

fn out_edge(
    edge: &Edge,
    id: &StepId,
    own: Option<&StepBounds>,
    called: Option<&VisitBounds>,
) -> OutEdge {
    let is_escalated = matches!(edge.kind, EdgeKind::Resume | EdgeKind::Restart);
    let bounds = match (own, edge.kind) {
        (None, _) => VisitBounds::empty(),
        (Some(own), EdgeKind::Pass) => own.pass.clone(),
        (Some(own), EdgeKind::Resume | EdgeKind::Restart) => match called {
            Some(called) => own.fail.then(called),
            None => own.fail.clone(),
        },
        (Some(own), _) => own.fail.clone(),
    };
    OutEdge {
        to: Some(edge.to.clone()),
        counts: bounds.all(),
        // An escalation step is visited in between.
        is_in_a_row: edge.to.step() == Some(id) && !(is_escalated && called.is_some()),
    }
}
