//! What happened in a visit, and the extremes of what can.

use std::collections::BTreeSet;

/// What happened: iterations, checks, phases that were reached, and whether the agent answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) iterations: u64,
    pub(super) checks: u64,
    pub(super) phases: BTreeSet<String>,
    pub(super) is_answered: bool,
}

impl Happened {
    fn then(&self, other: &Self) -> Self {
        Self {
            iterations: self.iterations.saturating_add(other.iterations),
            checks: self.checks.saturating_add(other.checks),
            phases: self.phases.union(&other.phases).cloned().collect(),
            is_answered: self.is_answered || other.is_answered,
        }
    }

    fn is_at_most(&self, other: &Self) -> bool {
        self.iterations <= other.iterations
            && self.checks <= other.checks
            && self.phases.is_subset(&other.phases)
            && self.is_answered <= other.is_answered
    }
}

/// The extremes of what can happen: no way brings less than each of the least, or more than each of the most.
///
/// Whatever can be complete after less can be complete after more, so that
/// what lies between them needs no look. Empty means that it cannot happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) least: Vec<Happened>,
    pub(super) most: Vec<Happened>,
}

impl Extremes {
    /// What happens for certain.
    pub(super) fn only(happened: Happened) -> Self {
        Self {
            least: vec![happened.clone()],
            most: vec![happened],
        }
    }

    /// Nothing happens.
    pub(super) fn nothing() -> Self {
        Self::only(Happened::default())
    }

    /// This, and then the other.
    pub(super) fn then(&self, other: &Self) -> Self {
        Self {
            least: lowest(sums(&self.least, &other.least)),
            most: highest(sums(&self.most, &other.most)),
        }
    }

    /// This, or the other.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.least.extend(other.least.iter().cloned());
        self.most.extend(other.most.iter().cloned());
        Self {
            least: lowest(self.least),
            most: highest(self.most),
        }
    }

    /// This, so many times.
    pub(super) fn times(&self, times: u64) -> Self {
        // By doubling, so that a million new tries are no work.
        let (mut all, mut power, mut rest) = (Self::nothing(), self.clone(), times);
        while rest > 0 {
            if rest % 2 == 1 {
                all = all.then(&power);
            }
            rest /= 2;
            if rest > 0 {
                power = power.then(&power.clone());
            }
        }
        all
    }

    /// Returns all extremes, each once.
    pub(super) fn all(self) -> Vec<Happened> {
        let mut all = self.least;
        for happened in self.most {
            if !all.contains(&happened) {
                all.push(happened);
            }
        }
        all
    }
}

fn sums(first: &[Happened], second: &[Happened]) -> Vec<Happened> {
    let pairs = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| a.then(b)).collect()
}

fn lowest(all: Vec<Happened>) -> Vec<Happened> {
    extreme(all, Happened::is_at_most)
}

fn highest(all: Vec<Happened>) -> Vec<Happened> {
    extreme(all, |a, b| b.is_at_most(a))
}

/// Keeps what nothing else goes before.
fn extreme(
    all: Vec<Happened>,
    goes_before: impl Fn(&Happened, &Happened) -> bool,
) -> Vec<Happened> {
    let mut kept: Vec<Happened> = Vec::new();
    for one in all {
        if !kept.iter().any(|other| goes_before(other, &one)) {
            kept.retain(|other| !goes_before(&one, other));
            kept.push(one);
        }
    }
    kept
}
