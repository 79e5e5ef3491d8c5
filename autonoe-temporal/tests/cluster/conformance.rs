//! Conformance tests of the engine.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use autonoe_core::engine::{Engine, JobRunner};
use autonoe_temporal::{
    TemporalEngine, TemporalSettings, TemporalWorker, Timeouts, WorkerSettings,
};
use autonoe_temporal_support::{DevServer, RunningWorker};
use autonoe_testkit::conformance::{self, ENGINE_JOB};

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_conforms_on_a_real_server() {
    let server = DevServer::start().await;
    let workers = Mutex::new(Vec::new());
    let make = async |runner: Arc<dyn JobRunner>| {
        let number = workers.lock().expect("nobody panicked").len();
        let timeouts = Timeouts {
            heartbeat_interval: Duration::from_millis(500),
            ..Timeouts::default()
        };
        let settings = TemporalSettings {
            queue: format!("conformance-{number}"),
            ..server.settings_with(timeouts)
        };
        let host = WorkerSettings::for_host("here");
        let equip = move |worker: TemporalWorker| worker.job(ENGINE_JOB, runner);
        let worker = RunningWorker::start(settings.clone(), host, equip);
        workers.lock().expect("nobody panicked").push(worker);
        let engine = TemporalEngine::connect(settings).await;
        Arc::new(engine.expect("there is a server")) as Arc<dyn Engine>
    };

    let report = conformance::engine(make).await;

    // All at once, because each stop takes a while.
    let workers = workers.into_inner().expect("nobody panicked");
    workers.iter().for_each(RunningWorker::stop);
    drop(workers);
    report.assert();
    assert_eq!(report.skipped(), []);
}
