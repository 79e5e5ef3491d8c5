//! Each as soon as what it builds on is there.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parallel::together;
use super::{Decision, Fleet, HarnessId, HarnessResult, Order, Strategy};

/// Members work at once, but each only after those that it builds on have succeeded.
///
/// It is given what they said. Who builds on a failure, or on somebody who is not there, is never
/// started; the others go on. It succeeds if all members do.
///
/// ```
/// use autonoe_harness::{Fleet, Graph, HarnessId, Order, Strategy};
///
/// let [parser, printer] = ["parser", "printer"].map(HarnessId::new);
/// let graph = Graph::default().after(printer.clone(), [parser.clone()]);
///
/// let fleet = Fleet::new([printer, parser.clone()]);
/// assert_eq!(graph.decide(&fleet), [Order::start(&parser)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// For each member that builds on others, whom it builds on.
    #[serde(default)]
    after: BTreeMap<HarnessId, BTreeSet<HarnessId>>,
}

impl Graph {
    /// Lets a member build on others, beside those that it builds on already.
    #[must_use]
    pub fn after(mut self, member: HarnessId, others: impl IntoIterator<Item = HarnessId>) -> Self {
        self.after.entry(member).or_default().extend(others);
        self
    }

    /// Returns what a member builds on, or `None` while some of it is missing.
    fn ground<'f>(&self, member: &HarnessId, fleet: &'f Fleet) -> Option<Vec<&'f HarnessResult>> {
        let others = self.after.get(member).into_iter().flatten();
        others
            .map(|other| fleet.member(other)?.result().filter(|it| it.success))
            .collect()
    }
}

#[typetag::serde(name = "graph")]
impl Strategy for Graph {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let starts = fleet.waiting().filter_map(|member| {
            let ground = self.ground(member, fleet)?;
            Some(Order::Start {
                member: member.clone(),
                input: (!ground.is_empty()).then(|| together(ground.into_iter())),
            })
        });
        let starts: Vec<_> = starts.collect();
        if !starts.is_empty() || fleet.is_at_work() {
            return starts;
        }
        let all = fleet.members();
        let success = |member: &super::Member| member.result().is_some_and(|it| it.success);
        vec![Order::Finish(Decision {
            success: !all.is_empty() && all.iter().all(success),
            winner: None,
            output: Some(together(fleet.results())),
        })]
    }
}

autonoe_core::register_spec!(Other("strategy"), Graph, "graph", {
    "after": {"printer": ["parser"]}
});
