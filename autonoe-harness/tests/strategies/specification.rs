//! Tests of the specification's table: what each strategy waits for, and when it stops the others.

use std::time::Duration;

use autonoe_harness::conformance::{SimulatedFleet, SimulatedMember, SimulationReport};
use autonoe_harness::strategy::{MemberId, VotingCriterion};
use autonoe_harness::{Graph, Parallel, Pipeline, Race, Strategy, Voting};

fn succeeds(seconds: u64) -> SimulatedMember {
    SimulatedMember::succeeds(Duration::from_secs(seconds))
}

fn fails(seconds: u64) -> SimulatedMember {
    SimulatedMember::fails(Duration::from_secs(seconds))
}

fn led_by(
    strategy: &dyn Strategy,
    members: impl IntoIterator<Item = SimulatedMember>,
) -> SimulationReport {
    SimulatedFleet::new(members)
        .run(strategy)
        .expect("the contract")
}

fn winner(end: &SimulationReport) -> Option<&str> {
    end.result.winner.as_ref().map(|id| id.as_str())
}

#[test]
fn parallel_waits_for_all_and_never_stops_the_others() {
    let end = led_by(&Parallel {}, [succeeds(3), fails(1), succeeds(2)]);

    assert!(!end.result.success);
    assert_eq!(end.result.results.len(), 3);
    assert_eq!(end.time, Duration::from_secs(3));
    let stopped = end
        .result
        .results
        .iter()
        .filter(|r| r.error.as_deref() == Some("it was stopped"));
    assert_eq!(stopped.count(), 0);

    let end = led_by(&Parallel {}, [succeeds(3), succeeds(1)]);
    assert!(end.result.success);
    let output = end.result.aggregated_output.expect("of both");
    assert_eq!(output, "## 0\n\noutput of 0\n\n## 1\n\noutput of 1");
}

#[test]
fn parallel_has_never_more_at_work_than_it_may() {
    let fleet = SimulatedFleet::new((0..100).map(|_| succeeds(1))).max_concurrent(10);

    let end = fleet.run(&Parallel {}).expect("the contract");

    assert_eq!(end.most_at_once, 10);
    assert_eq!(end.time, Duration::from_secs(10));
}

#[test]
fn a_stage_of_a_pipeline_starts_when_the_one_before_succeeded_and_gets_its_output() {
    let end = led_by(&Pipeline {}, [succeeds(1), succeeds(1), succeeds(1)]);

    assert!(end.result.success);
    assert_eq!(end.most_at_once, 1);
    let inputs: Vec<_> = end
        .inputs
        .iter()
        .map(|(_, input)| input.as_deref())
        .collect();
    assert_eq!(inputs, [None, Some("output of 0"), Some("output of 1")]);
    assert_eq!(end.result.aggregated_output.as_deref(), Some("output of 2"));
}

#[test]
fn a_pipeline_is_over_at_the_first_failure() {
    let end = led_by(&Pipeline {}, [succeeds(1), fails(1), succeeds(1)]);

    assert!(!end.result.success);
    assert_eq!(end.result.results.len(), 2);
    assert_eq!(end.result.not_started[0].as_str(), "2");
}

#[test]
fn in_a_graph_each_starts_after_its_dependencies_and_gets_their_output() {
    let id = |name: &str| MemberId::new(name);
    let graph = Graph::default().after(id("2"), [id("0"), id("1")]);

    let end = led_by(&graph, [succeeds(1), succeeds(3), succeeds(1), succeeds(1)]);

    assert!(end.result.success);
    assert_eq!(end.time, Duration::from_secs(4));
    assert_eq!(end.most_at_once, 3);
    let input_of_second = end.inputs.iter().find(|(member, _)| *member == id("2"));
    assert_eq!(
        input_of_second.and_then(|(_, input)| input.as_deref()),
        Some("## 0\n\noutput of 0\n\n## 1\n\noutput of 1")
    );
}

#[test]
fn in_a_graph_dependents_of_a_failure_do_not_start_and_the_others_continue() {
    let id = |name: &str| MemberId::new(name);
    let graph = Graph::default()
        .after(id("1"), [id("0")])
        .after(id("2"), [id("1")]);

    let end = led_by(&graph, [fails(1), succeeds(1), succeeds(1), succeeds(9)]);

    assert!(!end.result.success);
    assert_eq!(end.result.not_started, [id("1"), id("2")]);
    assert!(end.result.results[1].success);
    assert_eq!(end.time, Duration::from_secs(9));
}

// Shows: fleets/strategy/race
#[test]
fn a_race_is_won_by_the_first_success_and_by_no_failure() {
    let end = led_by(&Race {}, [succeeds(9), fails(1), succeeds(2)]);

    assert_eq!(winner(&end), Some("2"));
    assert_eq!(end.time, Duration::from_secs(2));
    assert_eq!(end.result.aggregated_output.as_deref(), Some("output of 2"));
    let lost = &end.result.results[0];
    assert_eq!(lost.error.as_deref(), Some("it was stopped"));

    let end = led_by(&Race {}, [fails(1), fails(2)]);
    assert!(!end.result.success);
    assert_eq!(winner(&end), None);
}

#[test]
fn a_race_starts_no_member_once_it_is_won() {
    let fleet = SimulatedFleet::new([succeeds(1), succeeds(1), succeeds(1)]).max_concurrent(1);

    let end = fleet.run(&Race {}).expect("the contract");

    assert_eq!(winner(&end), Some("0"));
    assert_eq!(end.result.not_started.len(), 2);
}

#[test]
fn only_successful_members_have_votes() {
    // Two have ended after two seconds, but only one of them has a vote.
    let end = led_by(
        &Voting::default(),
        [succeeds(1), fails(2), succeeds(3), succeeds(9)],
    );

    assert_eq!(winner(&end), Some("0"));
    assert_eq!(end.time, Duration::from_secs(3));
    assert_eq!(
        end.result.results[3].error.as_deref(),
        Some("it was stopped")
    );
}

#[test]
fn a_vote_that_cannot_be_won_any_more_is_over() {
    let end = led_by(&Voting::default(), [fails(1), fails(2), succeeds(9)]);

    assert!(!end.result.success);
    assert_eq!(winner(&end), None);
    assert_eq!(end.time, Duration::from_secs(2));
}

#[test]
fn the_best_of_the_votes_wins_by_the_criterion() {
    let member = |seconds, deliverables, criteria, tests, failures| {
        let mut member = succeeds(seconds);
        member.deliverables_passed = deliverables;
        member.criteria_passed = criteria;
        member.tests_passed = tests;
        member.failures = failures;
        member
    };
    // All of them succeed, so all of them have done all of their tasks.
    let members = [
        member(1, 0, 5, None, 3),
        member(2, 2, 1, Some(4), 2),
        member(3, 1, 1, Some(9), 1),
        member(4, 0, 1, Some(9), 0),
    ];
    for (criterion, expected) in [
        (VotingCriterion::First, "0"),
        (VotingCriterion::BestProgress, "1"),
        // A tie goes to the one that ended first.
        (VotingCriterion::BestTests, "2"),
        (VotingCriterion::LowestFailures, "3"),
        (VotingCriterion::Fastest, "0"),
    ] {
        let voting = Voting {
            criterion,
            wait_for_all: true,
            ..Voting::default()
        };

        let end = led_by(&voting, members.clone());

        assert_eq!(winner(&end), Some(expected), "{criterion:?}");
        assert!(
            end.result
                .results
                .iter()
                .all(|result| result.progress == 1.0)
        );
    }
}

#[test]
fn the_fastest_vote_has_the_shortest_working_time_and_need_not_be_the_first_to_end() {
    for (criterion, expected) in [
        (VotingCriterion::First, "0"),
        (VotingCriterion::Fastest, "1"),
    ] {
        let voting = Voting {
            criterion,
            ..Voting::default()
        };
        // One after the other, so the second one ends last.
        let fleet = SimulatedFleet::new([succeeds(5), succeeds(2)]).max_concurrent(1);

        let end = fleet.run(&voting).expect("the contract");

        assert_eq!(end.time, Duration::from_secs(7));
        assert_eq!(winner(&end), Some(expected), "{criterion:?}");
    }
}

#[test]
fn the_best_progress_is_deliverables_then_criteria_then_tests() {
    for (one, other) in [
        ((2, 1, None), (1, 9, Some(9))),
        ((1, 3, None), (1, 2, Some(9))),
        ((1, 2, Some(4)), (1, 2, Some(3))),
        ((1, 2, Some(0)), (1, 2, None)),
    ] {
        let member = |seconds, (deliverables, criteria, tests)| {
            let mut member = succeeds(seconds);
            member.deliverables_passed = deliverables;
            member.criteria_passed = criteria;
            member.tests_passed = tests;
            member
        };
        let voting = Voting {
            criterion: VotingCriterion::BestProgress,
            ..Voting::default()
        };

        // The better one ends last, so that it does not win by that.
        let end = led_by(&voting, [member(1, other), member(2, one)]);

        assert_eq!(winner(&end), Some("1"), "{one:?} and {other:?}");
    }
}

#[test]
fn a_vote_by_any_criterion_stops_the_others_at_enough_votes_unless_all_are_waited_for() {
    for criterion in [
        VotingCriterion::First,
        VotingCriterion::BestProgress,
        VotingCriterion::BestTests,
        VotingCriterion::LowestFailures,
        VotingCriterion::Fastest,
    ] {
        for (wait_for_all, seconds) in [(false, 2), (true, 9)] {
            let voting = Voting {
                criterion,
                wait_for_all,
                ..Voting::default()
            };

            let end = led_by(&voting, [succeeds(1), succeeds(2), succeeds(9)]);

            assert_eq!(end.time, Duration::from_secs(seconds), "{voting:?}");
            assert_eq!(end.result.results[2].success, wait_for_all, "{voting:?}");
        }
    }
}
