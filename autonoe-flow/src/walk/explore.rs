//! Explores every walk, and finds the steps from which none can finish.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::effort::Formula;
use super::node::Happened;
use super::node::{Node, Way, node};
use crate::definition::{StepId, StepsRegistry, Target};

/// So many situations are looked at. More come only of large counts in large flows.
const MOST: usize = 100_000;

/// What exploring found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// From wherever a walk may come, it can finish.
    Finishes,
    /// A walk may come to these steps in a way from which it cannot finish.
    Stuck {
        /// The steps.
        steps: BTreeSet<StepId>,
        /// Whether no walk at all can finish.
        from_the_start: bool,
    },
    /// There is too much to look at.
    TooLarge,
}

/// Where a walk is: at a step, and what happened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Situation {
    step: usize,
    /// Visits of this step in a row; 0 where the limit cannot matter.
    in_a_row: u32,
    iterations: u64,
    checks: u64,
    /// Which of the phases were reached, by bit.
    phases: u64,
    /// Whether the agent has answered.
    is_answered: bool,
}

/// Explores every walk through `registry` for a flow that is complete by `formula`.
///
/// What is broken otherwise, such as a target that is not there, is taken to
/// finish, so that one mistake is told once.
pub(crate) fn explore(registry: &StepsRegistry, formula: &Formula) -> Verdict {
    Explorer::new(registry, formula).run()
}

struct Explorer<'a> {
    registry: &'a StepsRegistry,
    formula: &'a Formula,
    steps: Vec<Node<'a>>,
    index: BTreeMap<&'a StepId, usize>,
    phases: Vec<String>,
    /// Counts are not followed further than this.
    most_iterations: u64,
    most_checks: u64,
    /// Whether the limit of visits in a row can matter.
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
        let ways = steps.iter().flat_map(|node| {
            let rows = u64::from(registry.limits.step_loop).max(1);
            node.ways.iter().map(move |way| (way, rows))
        });
        let (mut longest, mut most_checked) = (0_u64, 0_u64);
        for (way, rows) in ways {
            let rows = if way.is_in_a_row { rows } else { 1 };
            for happened in &way.happened {
                longest = longest.saturating_add(happened.iterations.saturating_mul(rows));
                most_checked = most_checked.saturating_add(happened.checks.saturating_mul(rows));
            }
        }
        Self {
            registry,
            formula,
            steps,
            index,
            // Without counts, a visit in a row changes nothing that reaches no new phase and is not the
            // first with an answer.
            counts_rows: iterations > 0
                || checks > 0
                || registry.limits.step_loop as usize <= phases.len() + 3,
            phases: phases.into_iter().take(64).collect(),
            // A walk that counts further than all steps together goes round in
            // a circle, and can do so as often as it likes.
            most_iterations: iterations.min(longest.saturating_add(1)).max(1),
            most_checks: checks.min(most_checked.saturating_add(1)),
        }
    }

    fn run(&self) -> Verdict {
        let Some(entry) = self.index.get(&self.registry.entry_step) else {
            return Verdict::Finishes;
        };
        let first = Situation {
            step: *entry,
            in_a_row: u32::from(self.counts_rows),
            iterations: 0,
            checks: 0,
            phases: 0,
            is_answered: false,
        };
        let mut known = HashMap::from([(first, 0)]);
        let mut all = vec![first];
        // Backwards: from where each situation is come to.
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let mut can_finish: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(now) = all.get(at).copied() {
            for follow in self.follow(now) {
                match follow {
                    Follow::Finished => can_finish.push(at),
                    Follow::Situation(next) => {
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
        match stuck.is_empty() {
            true => Verdict::Finishes,
            false => Verdict::Stuck {
                steps: stuck,
                from_the_start: !finishes[0],
            },
        }
    }

    fn follow(&self, now: Situation) -> Vec<Follow> {
        let node = &self.steps[now.step];
        if node.is_broken {
            return vec![Follow::Finished];
        }
        let mut found = Vec::new();
        for way in &node.ways {
            for happened in &way.happened {
                let then = self.after(now, happened);
                let may_hold = self.holds(then, Where::AtStep, Foresight::Hoping);
                if !node.is_gateway && may_hold {
                    found.push(Follow::Finished);
                }
                // What holds for certain ends the walk here.
                if !self.holds(then, Where::AtStep, Foresight::Certain) || node.is_gateway {
                    found.extend(self.arrive(then, way));
                }
            }
        }
        found
    }

    fn arrive(&self, mut then: Situation, way: &Way) -> Option<Follow> {
        let Target::Step(id) = way.to.as_ref()? else {
            let is_complete = self.holds(then, Where::AtEnd, Foresight::Hoping);
            return is_complete.then_some(Follow::Finished);
        };
        let Some(next) = self.index.get(id) else {
            return Some(Follow::Finished);
        };
        if self.counts_rows {
            let is_same = then.step == *next && way.is_in_a_row;
            then.in_a_row = if is_same { then.in_a_row + 1 } else { 1 };
            if then.in_a_row > self.registry.limits.step_loop {
                return None;
            }
        }
        then.step = *next;
        Some(Follow::Situation(then))
    }

    fn after(&self, mut now: Situation, happened: &Happened) -> Situation {
        let iterations = now.iterations.saturating_add(happened.iterations);
        now.iterations = iterations.min(self.most_iterations);
        let checks = now.checks.saturating_add(happened.checks);
        now.checks = checks.min(self.most_checks);
        for (bit, phase) in self.phases.iter().enumerate() {
            if happened.phases.contains(phase) {
                now.phases |= 1 << bit;
            }
        }
        now.is_answered |= happened.is_answered;
        now
    }

    fn holds(&self, then: Situation, place: Where, foresight: Foresight) -> bool {
        // Nothing is complete before the first answer.
        then.is_answered
            && self.formula.holds(&|leaf| match leaf {
                Formula::End => place == Where::AtEnd,
                Formula::Iterations(number) => {
                    then.iterations >= (*number).min(self.most_iterations)
                }
                Formula::Checks(number) => then.checks >= (*number).min(self.most_checks),
                Formula::Phases(names) => {
                    let bits = self.phases.iter().enumerate();
                    bits.filter(|(bit, _)| then.phases & (1 << bit) != 0)
                        .any(|(_, phase)| names.contains(phase))
                }
                Formula::Free | Formula::Any(_) | Formula::All(_) => foresight == Foresight::Hoping,
            })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    AtStep,
    AtEnd,
}

/// Whether what nobody can foresee is taken to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Foresight {
    Hoping,
    Certain,
}

enum Follow {
    Finished,
    Situation(Situation),
}
