//! Graph strategy: each member starts once its dependencies have succeeded.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parallel::join_outputs;
use super::{Decision, Dependencies, Fleet, MemberId, MemberReport, Order, Strategy};

/// Members run concurrently, but each only after its dependencies have succeeded.
///
/// A member receives the outputs of its dependencies. A member that depends on a failed or missing
/// member is never started; the others continue. The strategy succeeds if all members do.
///
/// ```
/// use autonoe_harness::strategy::{Fleet, MemberId, Order};
/// use autonoe_harness::{Graph, Strategy};
///
/// let [parser, printer] = ["parser", "printer"].map(MemberId::new);
/// let graph = Graph::default().after(printer.clone(), [parser.clone()]);
///
/// let fleet = Fleet::new([printer, parser.clone()]);
/// assert_eq!(graph.decide(&fleet), [Order::start(&parser)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The dependencies of each member that has any.
    #[serde(default)]
    after: Dependencies,
}

impl Graph {
    /// Adds dependencies of a member.
    #[must_use]
    pub fn after(mut self, member: MemberId, others: impl IntoIterator<Item = MemberId>) -> Self {
        self.after.entry(member).or_default().extend(others);
        self
    }

    /// Returns the results of a member's dependencies, or `None` while one is missing.
    fn dependency_results<'f>(
        &self,
        member: &MemberId,
        fleet: &'f Fleet,
    ) -> Option<Vec<&'f MemberReport>> {
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
            let inputs = self.dependency_results(member, fleet)?;
            Some(Order::Start {
                member: member.clone(),
                input: (!inputs.is_empty()).then(|| join_outputs(inputs.into_iter())),
            })
        });
        let starts: Vec<_> = starts.collect();
        if !starts.is_empty() || fleet.has_running_members() {
            return starts;
        }
        let all = fleet.members();
        let success = |member: &super::Member| member.result().is_some_and(|it| it.success);
        vec![Order::Finish(Decision {
            success: !all.is_empty() && all.iter().all(success),
            winner: None,
            output: Some(join_outputs(fleet.results())),
        })]
    }

    fn with_dependencies(&self, after: &Dependencies) -> Result<Option<Arc<dyn Strategy>>, String> {
        let mut graph = self.clone();
        for (member, others) in after {
            graph = graph.after(member.clone(), others.iter().cloned());
        }
        Ok(Some(Arc::new(graph)))
    }
}

autonoe_core::register_spec!(Other("strategy"), Graph, "graph", {
    "after": {"printer": ["parser"]}
});
