//! Reference walk through random flows, one attempt after the other, independent of the tested
//! code.
//!
//! A flow is a small model, and everything that can happen in a visit is tried: the agent fails, a
//! check passes or not, a sub-step fails.

use std::collections::{HashMap, HashSet};

/// The target of a step. A number that is not a step is a missing step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dest {
    Step(usize),
    End,
}

/// The action when a step failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fail {
    Error,
    Goto(Dest),
    Skip,
    Escalate { to: Notification, then: Return },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notification {
    Step(usize),
    Webhook,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Return {
    Resume,
    Abort,
    Restart,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Work {
        has_prompt: bool,
        has_check: bool,
        retries: u32,
        pass: Option<Dest>,
        fail: Fail,
        phase: Option<u8>,
        parts: Vec<Part>,
    },
    Gateway {
        branches: Vec<Dest>,
        default: Dest,
    },
}

/// A sub-step.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) has_check: bool,
    pub(crate) retries: u32,
    pub(crate) is_skipped: bool,
    pub(crate) phase: Option<u8>,
}

#[derive(Clone, Debug)]
pub(crate) enum Complete {
    AtEnd,
    Iterations(u32),
    Checks(u32),
    Phase(u8),
    Keyword,
    Any(Vec<Complete>),
    All(Vec<Complete>),
}

#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) steps: Vec<Step>,
    pub(crate) complete: Complete,
    pub(crate) step_loop: u32,
}

/// Counts so far. Counts above `MOST` are treated as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Facts {
    iterations: u32,
    checks: u32,
    phases: u8,
    is_answered: bool,
}

/// More than any count that a flow requires.
const MOST: u32 = 9;

/// End of a visit, an attempt or a sub-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ended {
    Passed,
    Failed,
}

type Ends = HashSet<(Ended, Facts)>;

impl Flow {
    /// Returns whether all referenced steps exist and are valid targets.
    fn is_sound(&self) -> bool {
        let is_there = |dest: &Dest| !matches!(dest, Dest::Step(step) if *step >= self.steps.len());
        self.steps.iter().enumerate().all(|(id, step)| match step {
            Step::Gateway { branches, default } => branches.iter().chain([default]).all(is_there),
            Step::Work { pass, fail, .. } => {
                pass.iter().all(is_there)
                    && match fail {
                        Fail::Goto(dest) => is_there(dest) && *dest != Dest::Step(id),
                        Fail::Escalate {
                            to: Notification::Step(to),
                            ..
                        } => *to != id && matches!(self.steps.get(*to), Some(Step::Work { .. })),
                        _ => true,
                    }
            }
        })
    }

    /// Returns whether every reachable step has a transition.
    fn has_no_dead_end(&self) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![Dest::Step(0)];
        while let Some(dest) = open.pop() {
            let Dest::Step(at) = dest else { continue };
            if !seen.insert(at) {
                continue;
            }
            match &self.steps[at] {
                Step::Gateway { branches, default } => {
                    open.extend(branches.iter().chain([default]));
                }
                Step::Work { pass: None, .. } => return false,
                Step::Work {
                    pass: Some(pass),
                    fail,
                    ..
                } => {
                    open.push(*pass);
                    match fail {
                        Fail::Goto(dest) => open.push(*dest),
                        Fail::Escalate {
                            then: Return::Restart,
                            ..
                        } => open.push(Dest::Step(0)),
                        _ => {}
                    }
                }
            }
        }
        true
    }

    /// Returns whether all references are valid, and a walk can finish from every state that free
    /// choices may lead to.
    pub(crate) fn lets_every_walk_finish(&self) -> bool {
        self.is_sound() && self.has_no_dead_end() && self.every_situation_is_fine()
    }

    fn every_situation_is_fine(&self) -> bool {
        type PathState = (usize, u32, Facts);
        let first: PathState = (0, 1, Facts::default());
        let mut following: HashMap<PathState, Vec<PathState>> = HashMap::new();
        let mut finishing: HashSet<PathState> = HashSet::new();
        let mut open = vec![first];
        while let Some(now) = open.pop() {
            if following.contains_key(&now) {
                continue;
            }
            let mut next = Vec::new();
            let (step, row, facts) = now;
            let mut arrive = |dest: Dest, facts: Facts, is_row: bool| match dest {
                Dest::End => self.may_be_complete(facts, true),
                Dest::Step(to) => {
                    let row = if to == step && is_row { row + 1 } else { 1 };
                    if row <= self.step_loop {
                        next.push((to, row, facts));
                    }
                    false
                }
            };
            let mut finishes = false;
            match &self.steps[step] {
                Step::Gateway { branches, default } => {
                    for dest in branches.iter().chain([default]) {
                        finishes |= arrive(*dest, facts, true);
                    }
                }
                Step::Work { pass, fail, .. } => {
                    let Some(pass) = *pass else { return false };
                    let mut may_complete = false;
                    for (ended, facts) in self.visit(step, facts, &mut may_complete) {
                        finishes |= match (ended, fail) {
                            (Ended::Passed, _) | (Ended::Failed, Fail::Skip) => {
                                arrive(pass, facts, true)
                            }
                            (Ended::Failed, Fail::Error) => false,
                            (Ended::Failed, Fail::Goto(dest)) => arrive(*dest, facts, true),
                            (Ended::Failed, Fail::Escalate { to, then }) => {
                                let (back, is_row) = match to {
                                    Notification::Webhook => (HashSet::from([facts]), true),
                                    Notification::Step(to) => {
                                        (self.called(*to, facts, &mut may_complete), false)
                                    }
                                };
                                let dest = match then {
                                    Return::Resume => Dest::Step(step),
                                    Return::Restart => Dest::Step(0),
                                    Return::Abort => continue,
                                };
                                let mut finishes = false;
                                for facts in back {
                                    finishes |= arrive(dest, facts, is_row);
                                }
                                finishes
                            }
                        };
                    }
                    finishes |= may_complete;
                }
            }
            if finishes {
                finishing.insert(now);
            }
            open.extend(&next);
            following.insert(now, next);
        }
        // A state is fine if it finishes, or if a successor is fine.
        loop {
            let more: Vec<PathState> = following
                .iter()
                .filter(|(now, next)| {
                    !finishing.contains(*now) && next.iter().any(|it| finishing.contains(it))
                })
                .map(|(now, _)| *now)
                .collect();
            if more.is_empty() {
                return following.keys().all(|now| finishing.contains(now));
            }
            finishing.extend(more);
        }
    }

    /// Returns every outcome of a visit. A flow that is complete on the way is recorded separately.
    fn visit(&self, step: usize, facts: Facts, may_complete: &mut bool) -> Ends {
        let Step::Work { retries, .. } = &self.steps[step] else {
            return Ends::new();
        };
        self.tries(*retries, facts, may_complete, &|facts, may_complete| {
            self.try_once(step, facts, may_complete)
        })
    }

    /// Runs a step for an escalation. It returns when the step passed or is skipped.
    fn called(&self, step: usize, facts: Facts, may_complete: &mut bool) -> HashSet<Facts> {
        let Step::Work { fail, .. } = &self.steps[step] else {
            return HashSet::new();
        };
        let ends = self.visit(step, facts, may_complete);
        ends.into_iter()
            .filter(|(ended, _)| *ended == Ended::Passed || *fail == Fail::Skip)
            .map(|(_, facts)| facts)
            .collect()
    }

    fn tries(
        &self,
        retries: u32,
        facts: Facts,
        may_complete: &mut bool,
        once: &dyn Fn(Facts, &mut bool) -> Ends,
    ) -> Ends {
        let mut ends = Ends::new();
        let mut now = HashSet::from([facts]);
        for left in (0..=retries).rev() {
            let mut retried = HashSet::new();
            for facts in now {
                for (ended, facts) in once(facts, may_complete) {
                    match ended {
                        Ended::Failed if left > 0 => drop(retried.insert(facts)),
                        ended => drop(ends.insert((ended, facts))),
                    }
                }
            }
            now = retried;
        }
        ends
    }

    fn try_once(&self, step: usize, facts: Facts, may_complete: &mut bool) -> Ends {
        let Step::Work {
            has_prompt,
            has_check,
            phase,
            parts,
            ..
        } = &self.steps[step]
        else {
            return Ends::new();
        };
        let mut ends = Ends::new();
        let mut now = HashSet::from([facts]);
        if *has_prompt {
            let broken = self.iterated(&now, false, may_complete);
            ends.extend(broken.into_iter().map(|facts| (Ended::Failed, facts)));
            now = self.iterated(&now, true, may_complete);
        }
        for part in parts {
            let mut next = HashSet::new();
            for facts in now {
                let of_part = self.tries(part.retries, facts, may_complete, &|facts, may| {
                    self.part(part, facts, may)
                });
                for (ended, facts) in of_part {
                    match ended {
                        Ended::Failed if !part.is_skipped => drop(ends.insert((ended, facts))),
                        _ => drop(next.insert(facts)),
                    }
                }
            }
            now = next;
        }
        for facts in now {
            self.judge(facts, *has_check, *phase, may_complete, &mut ends);
        }
        ends
    }

    fn part(&self, part: &Part, facts: Facts, may_complete: &mut bool) -> Ends {
        let mut ends = Ends::new();
        let before = HashSet::from([facts]);
        let broken = self.iterated(&before, false, may_complete);
        ends.extend(broken.into_iter().map(|facts| (Ended::Failed, facts)));
        for facts in self.iterated(&before, true, may_complete) {
            self.judge(facts, part.has_check, part.phase, may_complete, &mut ends);
        }
        ends
    }

    fn judge(
        &self,
        mut facts: Facts,
        has_check: bool,
        phase: Option<u8>,
        may_complete: &mut bool,
        ends: &mut Ends,
    ) {
        if has_check {
            // There is no verdict.
            ends.insert((Ended::Failed, facts));
            facts.checks = (facts.checks + 1).min(MOST);
            self.evaluate(facts, may_complete);
            if !self.is_complete(facts) {
                ends.insert((Ended::Failed, facts));
            }
        }
        if let Some(phase) = phase {
            facts.phases |= 1 << phase;
        }
        self.evaluate(facts, may_complete);
        if !self.is_complete(facts) {
            ends.insert((Ended::Passed, facts));
        }
    }

    /// Sends a prompt, which is answered or fails. A complete flow ends here.
    fn iterated(
        &self,
        before: &HashSet<Facts>,
        is_answered: bool,
        may_complete: &mut bool,
    ) -> HashSet<Facts> {
        let mut after = HashSet::new();
        for facts in before {
            let mut facts = *facts;
            facts.iterations = (facts.iterations + 1).min(MOST);
            facts.is_answered |= is_answered;
            self.evaluate(facts, may_complete);
            if !self.is_complete(facts) {
                after.insert(facts);
            }
        }
        after
    }

    fn evaluate(&self, facts: Facts, may_complete: &mut bool) {
        *may_complete |= self.may_be_complete(facts, false);
    }

    fn may_be_complete(&self, facts: Facts, at_end: bool) -> bool {
        facts.is_answered && holds(&self.complete, facts, at_end, true)
    }

    fn is_complete(&self, facts: Facts) -> bool {
        facts.is_answered && holds(&self.complete, facts, false, false)
    }
}

fn holds(complete: &Complete, facts: Facts, at_end: bool, is_keyword_sent: bool) -> bool {
    match complete {
        Complete::AtEnd => at_end,
        Complete::Iterations(number) => facts.iterations >= *number,
        Complete::Checks(number) => facts.checks >= *number,
        Complete::Phase(phase) => facts.phases & (1 << phase) != 0,
        Complete::Keyword => is_keyword_sent,
        Complete::Any(parts) => parts
            .iter()
            .any(|it| holds(it, facts, at_end, is_keyword_sent)),
        Complete::All(parts) => parts
            .iter()
            .all(|it| holds(it, facts, at_end, is_keyword_sent)),
    }
}
