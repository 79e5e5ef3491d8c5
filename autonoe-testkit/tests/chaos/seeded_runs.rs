//! Complete runs with seeded faults: each ends with a report, and the ledger is correct.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::SeededIds;
use autonoe_core::{
    DeliverableRepository, DeliverableStatus, OnQuota, RunControl, RunReport, SessionRunner,
};
use autonoe_testkit::{Fault, FaultHit, FaultyAgents, VirtualClock};

use crate::chaos::diligent_backend::Diligent;

const MAX_ITERATIONS: u32 = 12;

/// State after a run.
struct Aftermath {
    report: RunReport,
    hits: Vec<FaultHit>,
    passed: BTreeSet<String>,
    attempted: BTreeSet<String>,
    created: usize,
    disposed: usize,
}

async fn run(seed: u64) -> Aftermath {
    let backend = Diligent::default();
    let agents = FaultyAgents::new(backend.clone(), seed).with_rate_percent(60);
    let agents = Arc::new(agents);
    let repository = Arc::new(MemoryRepository::new());
    let texts = InstructionName::BUILT_IN.map(|name| (name, "Do it."));
    let on_quota = match seed % 2 {
        0 => OnQuota::Wait,
        _ => OnQuota::Stop,
    };

    let report = SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(repository.clone())
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .clock(Arc::new(VirtualClock::new()))
        .ids(Arc::new(SeededIds::new(seed)))
        .on_quota(on_quota)
        .max_iterations(MAX_ITERATIONS)
        .max_retries(if seed.is_multiple_of(3) { 2 } else { 100 })
        .build()
        .expect("parts fit")
        .run(&RunControl::new())
        .await;

    let saved = repository.load().await.expect("it is in memory");
    let passed = saved
        .iter()
        .flat_map(|saved| saved.state.ledger.deliverables());
    let passed = passed.filter(|deliverable| deliverable.status() == DeliverableStatus::Passed);
    let attempted = backend.notes.passed.lock().expect("not poisoned").clone();
    assert_eq!(
        agents.created(),
        backend.notes.created.load(Ordering::Relaxed)
    );
    assert_eq!(
        agents.disposed(),
        backend.notes.disposed.load(Ordering::Relaxed)
    );
    Aftermath {
        report,
        hits: agents.hits(),
        passed: passed
            .map(|deliverable| deliverable.id().to_string())
            .collect(),
        attempted,
        created: agents.created(),
        disposed: agents.disposed(),
    }
}

#[tokio::test(start_paused = true)]
async fn every_run_ends_with_a_report_and_an_honest_ledger() {
    let mut met = BTreeSet::new();

    for seed in 0..300 {
        let after = run(seed).await;

        let report = &after.report;
        assert!(report.iterations <= MAX_ITERATIONS, "seed {seed}: {report}");
        assert_eq!(after.created, after.disposed, "seed {seed}");
        assert_eq!(after.created, report.sessions as usize, "seed {seed}");
        assert!(
            after.passed.is_subset(&after.attempted),
            "seed {seed}: {:?} passed, but only {:?} was asked for",
            after.passed,
            after.attempted
        );
        let reported = report.deliverables.unwrap_or_default();
        assert_eq!(reported.passed, after.passed.len(), "seed {seed}");
        met.extend(after.hits.into_iter().map(|hit| hit.fault));
    }

    assert_eq!(met, BTreeSet::from(Fault::ALL));
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_run() {
    for seed in [1, 2, 3, 4] {
        let (one, two) = (run(seed).await, run(seed).await);

        assert_eq!(one.hits, two.hits);
        assert_eq!(one.report, two.report);
    }
}
