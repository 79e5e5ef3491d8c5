//! Benchmark: sessions per second that only change the ledger.

use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::engine::{Engine, LocalEngine, Placement, RunSpec};
use autonoe_temporal_support::{DevServer, Host, Site, TestHosts, Work, engine};
use futures::future::join_all;

use crate::Scope;
use crate::local::Locally;
use crate::resident;

/// Numbers of concurrent runs, and of deliverables of each run.
const LOADS: [(usize, u32); 3] = [(1, 40), (8, 20), (64, 8)];

const ROUNDS: usize = 5;

pub(crate) async fn measure(scope: Scope) {
    println!(
        "\n| runs | sessions | per second, Temporal | LocalEngine | MiB of the worker (peak) |"
    );
    println!("| --- | --- | --- | --- | --- |");
    let rounds = if scope == Scope::Whole { ROUNDS } else { 1 };
    for (runs, deliverables) in LOADS {
        let deliverables = if scope == Scope::Whole {
            deliverables
        } else {
            1
        };
        let work = Work::new(deliverables);
        let sessions = runs as f64 * f64::from(work.sessions());
        let (mut temporal, mut local) = (Vec::new(), Vec::new());
        let mut memory = (0.0, 0.0);
        // Alternately, so that both are measured under the same load of the machine.
        for _ in 0..rounds {
            let (elapsed, resident) = on_temporal(runs, &work).await;
            temporal.push(sessions / elapsed.as_secs_f64());
            memory = resident;
            local.push(sessions / on_local(runs, &work).await.as_secs_f64());
        }
        println!(
            "| {runs} | {sessions} | {} | {} | {:.0} ({:.0}) |",
            spread(temporal),
            spread(local),
            memory.0,
            memory.1,
        );
    }
}

/// Formats the median, the minimum and the maximum.
fn spread(mut figures: Vec<f64>) -> String {
    figures.sort_by(f64::total_cmp);
    let (least, most) = (figures[0], figures[figures.len() - 1]);
    let median = figures[figures.len() / 2];
    format!("{median:.0} ({least:.0} to {most:.0})")
}

async fn on_temporal(runs: usize, work: &Work) -> (Duration, (f64, f64)) {
    let server = DevServer::start().await;
    let settings = server.settings();
    let site = Site::create();
    let worker = Host::start(&site, &settings, "one");
    let engine = engine(&settings).await;
    // The worker has started once this run has ended.
    all(&engine, vec![site.run("first", &Work::new(1))]).await;
    let runs = named(&site, runs, work);
    let started = Instant::now();
    all(&engine, runs).await;
    (started.elapsed(), resident::mib(worker.id()))
}

async fn on_local(runs: usize, work: &Work) -> Duration {
    let site = Site::create();
    let engine = LocalEngine::new(Arc::new(Locally(TestHosts::new(&site, "here"))));
    let runs = named(&site, runs, work);
    let started = Instant::now();
    all(&engine, runs).await;
    started.elapsed()
}

fn named(site: &Site, count: usize, work: &Work) -> Vec<RunSpec> {
    let numbers = 0..count;
    numbers
        .map(|number| site.run(&format!("run-{number}"), work))
        .collect()
}

/// Executes all runs concurrently, to their end.
async fn all(engine: &dyn Engine, runs: Vec<RunSpec>) {
    let each = runs.into_iter().map(async |run| {
        let id = engine.submit(run, Placement::anywhere()).await;
        let outcome = engine.wait(&id.expect("it is taken")).await;
        let outcome = outcome.expect("it ends");
        assert!(outcome.is_success(), "{outcome:?}");
    });
    join_all(each).await;
}
