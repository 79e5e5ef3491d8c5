//! Conformance tests of the built-in strategies.

use std::num::NonZeroUsize;

use autonoe_core::spec::registered_specs;
use autonoe_harness::strategy::{MemberId, STRATEGY_PORT, VotingCriterion};
use autonoe_harness::{Graph, Parallel, Pipeline, Race, Strategy, Voting, conformance};

// Shows: fleets/strategy/decide
#[test]
fn our_strategies_keep_their_contract() {
    conformance::strategy(&Parallel {}).assert();
    conformance::strategy(&Pipeline {}).assert();
    let id = |number: u32| MemberId::new(number.to_string());
    conformance::strategy(&Graph::default()).assert();
    conformance::strategy(&Graph::default().after(id(2), [id(0), id(1)])).assert();
    // `Graph` itself does not reject a cycle or an unknown member.
    let circle = Graph::default().after(id(0), [id(1)]).after(id(1), [id(0)]);
    conformance::strategy(&circle).assert();
    conformance::strategy(&Graph::default().after(id(0), [MemberId::new("nobody")])).assert();
    conformance::strategy(&Race {}).assert();
    for criterion in [
        VotingCriterion::First,
        VotingCriterion::BestProgress,
        VotingCriterion::BestTests,
        VotingCriterion::LowestFailures,
        VotingCriterion::Fastest,
    ] {
        for min_votes in 1..4 {
            for wait_for_all in [false, true] {
                let voting = Voting {
                    min_votes: NonZeroUsize::new(min_votes).expect("at least one"),
                    criterion,
                    wait_for_all,
                };
                conformance::strategy(&voting).assert();
            }
        }
    }
}

#[test]
fn strategies_are_registered_with_examples_that_can_be_read() {
    let registered = registered_specs(STRATEGY_PORT);

    let tags: Vec<_> = registered.iter().map(|entry| entry.tag).collect();
    assert_eq!(tags, ["graph", "parallel", "pipeline", "race", "voting"]);
    for entry in registered {
        let strategy: Box<dyn Strategy> =
            serde_json::from_value((entry.example)()).expect("a strategy");
        assert_eq!(strategy.typetag_name(), entry.tag);
    }
}

#[test]
fn a_strategy_with_a_mistake_is_not_read() {
    for mistake in [
        r#"{"type": "race", "speed": 1}"#,
        r#"{"type": "voting", "minVotes": 0}"#,
        r#"{"type": "voting", "criterion": "loudest"}"#,
        r#"{"type": "lottery"}"#,
    ] {
        assert!(
            serde_json::from_str::<Box<dyn Strategy>>(mistake).is_err(),
            "{mistake}"
        );
    }
}
