//! Session hosts in another process.

use std::path::Path;
use std::sync::Arc;

use autonoe_core::{
    Epoch, HostedSession, InstructionName, Project, ProjectSessionHost, RunId, SessionHost,
    SessionKey,
};
use autonoe_harness::ProgramSessionHost;
use autonoe_testkit::VirtualClock;
use autonoe_testkit::conformance::session_host;
use tokio_util::sync::CancellationToken;

use crate::bridge::roles::SIGNS;
use crate::bridge::stage::{Stage, eventually};

fn host(stage: &Stage, project: &Path, signs: &Path) -> ProgramSessionHost {
    ProgramSessionHost::new(
        stage
            .role("bridge::roles::session_host", project)
            .env(SIGNS, signs),
    )
}

#[tokio::test(start_paused = true)]
async fn a_host_of_a_project_conforms() {
    let report = session_host(async |ground| {
        let project = Project::find(ground.project(), None).expect("it is there");
        let host = ProjectSessionHost::new(project, ground.agents());
        Arc::new(host.clock(Arc::new(VirtualClock::new()))) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.passed().len(), 23, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_in_another_process_conforms() {
    let stage = Stage::new();

    let report = session_host(async |ground| {
        Arc::new(host(&stage, ground.project(), ground.signs())) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.passed().len(), 23, "{report}");
    stage.nothing_is_left().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_cannot_be_read_is_told_and_kept() {
    let stage = Stage::new();
    let ledger = stage.path().join(".autonoe/status.json");
    std::fs::create_dir(stage.path().join(".autonoe")).expect("writable");
    std::fs::write(&ledger, "no ledger of ours\n").expect("writable");
    let host = host(&stage, stage.path(), stage.path());
    let key = SessionKey {
        run: RunId::new("shop"),
        number: 1,
    };
    let session = HostedSession::new(InstructionName::Coding).prompt("Work.");
    let never = CancellationToken::new();

    let looked = host.look(&key.run).await;
    let claimed = host.claim(&key.run).await;
    let attached = host.attach_or_start(&key, Epoch(1), session, &|_| {}, never);

    assert!(attached.await.is_err());
    let failure = looked.expect_err("it cannot be read");
    assert!(failure.message.contains("status.json"), "{failure:?}");
    assert!(claimed.is_err(), "{claimed:?}");
    let kept = std::fs::read_to_string(&ledger).expect("it is there");
    assert_eq!(kept, "no ledger of ours\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_question_ends_the_program() {
    let stage = Stage::new();
    let silent = stage.shell("cat >/dev/null; sleep 600 & exec sleep 600");
    let host = ProgramSessionHost::new(silent.patience(std::time::Duration::ZERO));
    let run = RunId::new("shop");
    let mut asking = Box::pin(host.look(&run));
    let begun = eventually("its start", || stage.living() > 0);
    tokio::select! {
        looked = &mut asking => panic!("nobody answers: {looked:?}"),
        () = begun => {}
    }

    drop(asking);

    stage.nothing_is_left().await;
}
