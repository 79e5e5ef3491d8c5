//! Replays reproduce the recording, including its errors.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::SeededIds;
use autonoe_core::{AgentClientFactory, ExitReason, RunControl, SessionRunner};
use autonoe_testkit::{
    Fault, FaultyAgents, Recorder, Replayer, ScriptedBackend, SessionScript, VirtualClock,
};
use serde_json::json;

use crate::cassettes::recorded_run::{SECRET, TOKEN, recorded, run, scripts};

/// Returns the lines of a log without secrets, sorted: calls that were made at once are replayed
/// one after the other.
fn lines(log: &str) -> Vec<String> {
    let [token, hidden] =
        [TOKEN, "[redacted]"].map(|text| format!("{:?}", json!({"token": text}).to_string()));
    let log = log.replace(SECRET, "[redacted]").replace(&token, &hidden);
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[tokio::test(start_paused = true)]
async fn a_replay_has_the_results_of_the_recorded_run() {
    let (cassette, before) = recorded().await;

    let replayer = Arc::new(Replayer::new(cassette));
    let after = run(replayer.clone()).await;

    replayer.verify();
    assert_eq!(before.report.exit, ExitReason::AllPassed);
    assert_eq!(lines(&after.log), lines(&before.log));
    assert_eq!((after.report, after.ledger), (before.report, before.ledger));
}

#[tokio::test(start_paused = true)]
async fn replay_reproduces_faults_of_the_backend() {
    for seed in 0..40 {
        let scripted = ScriptedBackend::new(scripts()).unverified();
        let faults = [Fault::MissingEnd, Fault::ErrorAfterEnd, Fault::WrongCost];
        let faulty = FaultyAgents::new(scripted, seed).with_faults(faults);
        let recorder = Arc::new(Recorder::new(faulty));
        let before = run(recorder.clone()).await;

        let after = run(Arc::new(Replayer::new(recorder.cassette()))).await;

        assert_eq!(after.report, before.report, "seed {seed}");
        assert_eq!(after.ledger, before.ledger, "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silence_is_replayed_as_a_silence() {
    let scripts = [SessionScript::new("sleeps").says("wait").hangs()];
    let recorder = Arc::new(Recorder::new(ScriptedBackend::new(scripts).unverified()));
    let run_once = async |agents: Arc<dyn AgentClientFactory>| {
        let texts = FixedInstructions::new([(InstructionName::Initializer, "Plan.")]);
        let runner = SessionRunner::builder("/srv/project")
            .agents(agents)
            .repository(Arc::new(MemoryRepository::new()))
            .instructions(Arc::new(texts))
            .clock(Arc::new(VirtualClock::new()))
            .ids(Arc::new(SeededIds::new(1)))
            .max_retries(0);
        runner
            .build()
            .expect("parts fit")
            .run(&RunControl::new())
            .await
    };

    let before = run_once(recorder.clone()).await;
    let after = run_once(Arc::new(Replayer::new(recorder.cassette()))).await;

    assert_eq!(after, before);
    assert!(after.elapsed.as_secs() >= 30 * 60, "{after}");
}
