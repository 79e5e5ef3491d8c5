//! Coordination of members that do nothing, compared with equivalent plain tokio tasks.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::RunControl;
use autonoe_core::engine::{JobContext, JobRunner, LocalEngine, RunOutcome, RunSpec};
use autonoe_harness::coordinate::MemberSpec;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{Coordinator, Graph, Parallel, Pipeline, Race, Strategy, Voting};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::peers;
use crate::stats::{Spread, micros, timed};

/// A strategy and its equivalent in plain tasks.
struct Pair {
    name: &'static str,
    strategy: fn(usize) -> Arc<dyn Strategy>,
    peer: fn(&Runtime, usize, usize),
    /// The number of concurrent tasks, out of this total.
    at_once: fn(usize) -> usize,
}

const PAIRS: [Pair; 6] = [
    Pair {
        name: "parallel",
        strategy: |_| Arc::new(Parallel {}),
        peer: peers::all,
        at_once: |members| members,
    },
    Pair {
        name: "parallel, 10 at once",
        strategy: |_| Arc::new(Parallel {}),
        peer: peers::all,
        at_once: |_| 10,
    },
    Pair {
        name: "graph, a binary tree",
        strategy: |members| {
            let pairs = (1..members).map(|n| (id(n), id(n / 2)));
            Arc::new(pairs.fold(Graph::default(), |graph, (member, before)| {
                graph.after(member, [before])
            }))
        },
        peer: peers::tree,
        at_once: |members| members,
    },
    Pair {
        name: "pipeline",
        strategy: |_| Arc::new(Pipeline {}),
        peer: peers::chain,
        at_once: |members| members,
    },
    Pair {
        name: "race, the first wins",
        strategy: |_| Arc::new(Race {}),
        peer: peers::first,
        at_once: |members| members,
    },
    Pair {
        name: "voting over all",
        strategy: |_| {
            Arc::new(Voting {
                min_votes: NonZeroUsize::MIN,
                wait_for_all: true,
                ..Voting::default()
            })
        },
        peer: peers::all,
        at_once: |members| members,
    },
];

pub(crate) fn measure(testing: bool) {
    let sizes: &[usize] = if testing {
        &[1, 10]
    } else {
        &[1, 10, 100, 1_000]
    };
    println!("| strategy | members | us a member, with `Coordinator` | plain tasks | ratio |");
    println!("| --- | --- | --- | --- | --- |");
    for pair in &PAIRS {
        for &members in sizes {
            let rounds = if testing {
                2
            } else {
                (20_000 / members).clamp(21, 401)
            };
            row(pair, members, rounds);
        }
    }
}

fn row(pair: &Pair, members: usize, rounds: usize) {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let at_once = (pair.at_once)(members);
    let (mut autonoe, mut peer) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let strategy = (pair.strategy)(members);
        let (with, ()) = timed(|| coordinated(&runtime, strategy, members, at_once));
        let (plain, ()) = timed(|| (pair.peer)(&runtime, members, at_once));
        // The first round warms the caches.
        if round > 0 {
            autonoe.push(micros(with) / members as f64);
            peer.push(micros(plain) / members as f64);
        }
    }
    println!(
        "| {} | {members} | {} | {} | {} |",
        pair.name,
        Spread::new(autonoe.iter().copied()),
        Spread::new(peer.iter().copied()),
        Spread::from_ratios(&autonoe, &peer),
    );
}

fn coordinated(runtime: &Runtime, strategy: Arc<dyn Strategy>, members: usize, at_once: usize) {
    let is_race = strategy.picks_winner();
    let report = runtime.block_on(async {
        let engine = LocalEngine::new(Arc::new(Nothing));
        Coordinator::new("bench", Arc::new(engine), strategy)
            .members((0..members).map(|n| {
                let waits = is_race && n > 0;
                MemberSpec::new(id(n), "nothing", json!({ "waits": waits }))
            }))
            .max_concurrent(NonZeroUsize::new(at_once).expect("some"))
            .run(&RunControl::new())
            .await
    });
    let report = report.expect("it begins");
    assert!(report.success, "{report:?}");
    assert_eq!(report.results.len(), members);
}

fn id(n: usize) -> MemberId {
    MemberId::new(format!("m{n:04}"))
}

/// An executor that ends at once, or waits to be stopped.
struct Nothing;

#[async_trait]
impl JobRunner for Nothing {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        if run.input["work"]["waits"] == Value::Bool(true) {
            context.control().cancelled().await;
            return RunOutcome::cancelled("another was first");
        }
        tokio::task::yield_now().await;
        RunOutcome::succeeded(json!(peers::TASK_OUTPUT))
    }
}
