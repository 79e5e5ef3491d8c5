//! Tests of fleet orders and their validation.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Budget, CostUsd};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::work::{Isolation, WhenDone, WorkOrder};
use autonoe_harness::{
    Allowance, Candidate, FleetMember, FleetOrder, Graph, Parallel, Pipeline, Race,
};
use serde_json::json;

use crate::fleets::fixture::{roadmap, task};

fn ids(order: &FleetOrder) -> Vec<&str> {
    order
        .members
        .iter()
        .map(|member| member.id.as_str())
        .collect()
}

#[test]
fn each_open_task_is_a_member_with_its_dependencies() {
    let mut roadmap = roadmap(&[("c", &["a", "b"]), ("a", &[]), ("b", &["a"])]);
    roadmap.tasks[1].is_done = true;

    let order = FleetOrder::from_tasks("f", &roadmap, Graph::default());

    let order = order.expect("it can be done");
    assert_eq!(ids(&order), ["b", "c"]);
    let graph = Graph::default().after(MemberId::new("c"), [MemberId::new("b")]);
    let graph: Arc<dyn autonoe_harness::Strategy> = Arc::new(graph);
    assert_eq!(json!(&*order.strategy), json!(&*graph));
    let isolation = Isolation::Worktree {
        name: "b".to_owned(),
        base: None,
        when_done: WhenDone::Merge,
    };
    assert_eq!(order.members[0].work.isolation, isolation);
    order.validate().expect("nothing is wrong with it");
}

#[test]
fn tasks_without_dependencies_are_a_graph_without_edges() {
    let tasks = roadmap(&[("a", &[]), ("b", &[])]);

    let order = FleetOrder::from_tasks("f", &tasks, Graph::default());

    let order = order.expect("it can be done");
    assert_eq!(order.strategy.typetag_name(), "graph");
}

#[test]
fn the_objective_is_in_every_prompt() {
    let order = FleetOrder::from_tasks("f", &roadmap(&[("a", &[])]), Graph::default());

    let order = order.expect("it can be done");
    let context = order.members[0].work.tasks[0].task.context.as_deref();
    assert_eq!(
        context,
        Some(
            "This task is part of a larger objective: Many files.\n\nConstraints:\n- no empty \
             ones\n\nSuccess criteria of the whole objective:\n- all are there"
        )
    );
}

#[test]
fn a_strategy_that_cannot_respect_dependencies_is_refused() {
    let roadmap = roadmap(&[("b", &["a"]), ("a", &[])]);

    let at_once = FleetOrder::from_tasks("f", &roadmap, Parallel {}).expect_err("b depends on a");
    let in_a_row = FleetOrder::from_tasks("f", &roadmap, Pipeline {}).expect("a goes first");

    assert!(
        at_once
            .to_string()
            .contains("the task b depends on another")
    );
    assert_eq!(ids(&in_a_row), ["a", "b"]);
    assert_eq!(in_a_row.strategy.typetag_name(), "pipeline");
}

// Shows: fleets/executor/candidates
#[test]
fn candidates_do_all_of_it_each_on_its_own_backend_and_keep_their_work() {
    let mut roadmap = roadmap(&[("a", &[]), ("b", &["a"])]);
    roadmap.tasks[0].task.cli = Some("gemini".to_owned());
    roadmap.tasks[0].task.model = Some("gemini-2.5-flash".to_owned());
    let candidates = [
        Candidate {
            backend: Some("claude".to_owned()),
            ..Candidate::new("one")
        },
        Candidate {
            name: "two".to_owned(),
            backend: Some("codex".to_owned()),
            model: Some("gpt-5.5".to_owned()),
        },
    ];

    let order = FleetOrder::from_candidates("f", &roadmap, Race {}, candidates);

    order.validate().expect("nothing is wrong with it");
    assert_eq!(ids(&order), ["one", "two"]);
    let work = &order.members[1].work;
    assert_eq!(work.tasks.len(), 2);
    assert_eq!(work.tasks[0].task.cli, None);
    assert_eq!(work.tasks[0].task.model, None);
    assert_eq!(work.backend.as_deref(), Some("codex"));
    assert_eq!(work.model.as_deref(), Some("gpt-5.5"));
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let tasks = roadmap(&[("a", &[]), ("b", &["a"])]);
    let order = FleetOrder::from_tasks("f", &tasks, Graph::default());
    let mut order = order.expect("it can be done");
    order.roadmap = Some("ROADMAP.md".into());
    order.max_concurrent = NonZeroUsize::MIN;
    order.time = Duration::from_secs(90);
    order.pause_on_critical = true;
    let written = json!(order);

    let read: FleetOrder = serde_json::from_value(written.clone()).expect("an order");

    assert_eq!(json!(read), written);
    assert_eq!(written["timeSeconds"], 90);
    assert_eq!(
        written["strategy"],
        json!({"type": "graph", "after": {"b": ["a"]}})
    );
    let mut odd = written;
    odd["tiem"] = json!(5);
    assert!(serde_json::from_value::<FleetOrder>(odd).is_err());
}

#[test]
fn a_budget_is_shared_by_those_that_have_none_of_their_own() {
    let tasks = roadmap(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])]);
    let budget = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(100)));

    let order = FleetOrder::from_tasks("f", &tasks, Graph::default());
    let order = order.expect("it can be done").budget(budget);

    let part = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(25)));
    assert!(order.members.iter().all(|member| member.allowance == part));
    order.validate().expect("nothing is wrong with it");
}

#[test]
fn all_problems_are_reported_before_anything_starts() {
    let member = |id: &str, isolation| {
        FleetMember::new(MemberId::new(id), WorkOrder::new([task("a")], isolation))
    };
    let tree = |name: &str| Isolation::Worktree {
        name: name.to_owned(),
        base: None,
        when_done: WhenDone::Merge,
    };
    let some = Allowance::default().sessions(1);
    let circle = roadmap(&[("a", &["b"]), ("b", &["a"])]);
    let one = [Candidate::new("x")];
    let blank = |name: &str| {
        let mut member = member(name, Isolation::Shared);
        member.work.backend = Some(" ".to_owned());
        member
    };
    let cases: [(&str, FleetOrder); 11] = [
        (
            "the member x: its backend is blank",
            FleetOrder::new("f", Parallel {}, [blank("x")]),
        ),
        (
            "depend on each other in a cycle",
            FleetOrder::from_candidates("f", &circle, Race {}, one),
        ),
        (
            "its name may only contain",
            FleetOrder::new("a.b", Parallel {}, []),
        ),
        (
            "the folder name is reserved",
            FleetOrder::new("worktrees", Parallel {}, []),
        ),
        ("it has no members", FleetOrder::new("f", Parallel {}, [])),
        (
            "the member x: another member has the same name",
            FleetOrder::new(
                "f",
                Parallel {},
                [
                    member("x", Isolation::Shared),
                    member("x", Isolation::Shared),
                ],
            ),
        ),
        (
            "contains a dot",
            FleetOrder::new("f", Parallel {}, [member("x.y", Isolation::Shared)]),
        ),
        (
            "another member has the same worktree t",
            FleetOrder::new(
                "f",
                Parallel {},
                [member("x", tree("t")), member("y", tree("t"))],
            ),
        ),
        (
            "needs a worktree",
            FleetOrder::new("f", Race {}, [member("x", Isolation::Shared)]),
        ),
        (
            "keeps its work",
            FleetOrder::new("f", Race {}, [member("x", tree("t"))]),
        ),
        (
            "has a sessions budget of 0",
            FleetOrder::new(
                "f",
                Parallel {},
                [
                    member("x", Isolation::Shared),
                    member("y", Isolation::Shared),
                ],
            )
            .budget(some),
        ),
    ];
    for (problem, order) in cases {
        let error = order.validate().expect_err(problem);

        assert!(error.to_string().contains(problem), "{error}");
    }
}
