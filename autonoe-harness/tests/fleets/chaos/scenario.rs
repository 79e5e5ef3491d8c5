//! Scenarios of the chaos test, and the random numbers that choose them.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_harness::executor::CommandCriterion;
use autonoe_harness::strategy::IntoStrategy;
use autonoe_harness::{Candidate, FleetOrder, Graph, Pipeline, Race, Roadmap, Strategy, Voting};

use crate::fleets::explorations;
use crate::fleets::fixture::{roadmap, unhurried};

/// Scenario of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    /// Tasks that depend on each other.
    Tasks,
    /// Tasks that run one after the other.
    Pipeline,
    /// Tasks, one of which only succeeds in an exploration.
    Ways,
    /// The first of three wins.
    Race,
    /// The best of enough successes wins.
    Vote,
}

impl Scenario {
    /// Returns each scenario in turn.
    pub(super) fn of_round(number: u64) -> Self {
        match number % 5 {
            0 => Self::Tasks,
            1 => Self::Pipeline,
            2 => Self::Ways,
            3 => Self::Race,
            _ => Self::Vote,
        }
    }

    /// Returns the duration of this scenario without kills, given that of the longest one.
    pub(super) fn share_of(self, longest: Duration) -> Duration {
        match self {
            Self::Tasks | Self::Pipeline | Self::Ways => longest,
            Self::Race | Self::Vote => longest / 2,
        }
    }

    /// Returns whether all members do the same work, and that of one is merged.
    pub(super) fn is_contest(self) -> bool {
        matches!(self, Self::Race | Self::Vote)
    }

    pub(super) fn order(self, rng: &mut Rng) -> FleetOrder {
        let order = match self {
            Self::Tasks => {
                let tasks = roadmap(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &[])]);
                of_tasks(&tasks, Graph::default())
            }
            Self::Pipeline => {
                let tasks = roadmap(&[("a", &[]), ("b", &[]), ("c", &[])]);
                of_tasks(&tasks, Pipeline {})
            }
            Self::Ways => explorations::order(),
            Self::Race => candidate_order(&[("a", &[]), ("b", &["a"])], Arc::new(Race {})),
            Self::Vote => {
                let wait_for_all = rng.below(2) == 0;
                let voting = Voting {
                    wait_for_all,
                    ..Voting::default()
                };
                candidate_order(&[("a", &[])], Arc::new(voting))
            }
        };
        let mut order = unhurried(order).each(|work| {
            for planned in &mut work.tasks {
                let task = &mut planned.task;
                // A slow check is killed as well, with the processes that it has started.
                let check = format!("sleep 0.02; test -f {}.txt", task.id);
                task.success_criteria = Some(CommandCriterion::new(["sh", "-c", &check]).into());
                let is_lost = self == Self::Ways && task.id.as_str() == "a";
                task.model = Some(if is_lost { "lost" } else { "untidy" }.to_owned());
            }
        });
        let at_once = usize::try_from(1 + rng.below(4)).expect("small");
        order.max_concurrent = NonZeroUsize::new(at_once).expect("at least one");
        order
    }
}

fn of_tasks(tasks: &Roadmap, strategy: impl IntoStrategy) -> FleetOrder {
    let order = FleetOrder::from_tasks("f", tasks, strategy);
    order.expect("it can be done")
}

fn candidate_order(tasks: &[(&str, &[&str])], strategy: Arc<dyn Strategy>) -> FleetOrder {
    let candidates = ["one", "two", "three"].map(Candidate::new);
    FleetOrder::from_candidates("f", &roadmap(tasks), strategy, candidates)
}

/// Pseudo-random number generator (SplitMix64).
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `sides`.
    pub(super) fn below(&mut self, sides: u64) -> u64 {
        self.next() % sides.max(1)
    }

    /// Returns one of several values; `None` if there are none.
    pub(super) fn one_of<T>(&mut self, all: impl IntoIterator<Item = T>) -> Option<T> {
        let mut all: Vec<T> = all.into_iter().collect();
        let number = usize::try_from(self.below(all.len() as u64)).expect("small");
        (!all.is_empty()).then(|| all.swap_remove(number))
    }

    /// Returns a time below `limit`.
    pub(super) fn time_below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_micros()).expect("short");
        Duration::from_micros(self.below(limit))
    }
}
