//! How a program that is kept ends.

use std::future;

use autonoe_testkit::model_server::{Script, Turn};
use autonoe_testkit::program::Host;

use super::Run;
use crate::setting::{Place, Setting, eventually};

fn greeting() -> Setting {
    Setting::new(Script::by(|_| Turn::text("Hello."))).unverified()
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_nothing() {
    for setting in [greeting(), greeting().sandboxed()] {
        let Run {
            agents,
            kept,
            setting,
        } = {
            let run = Run::of(setting);
            run.play(run.spec()).await;
            run.kept_program();
            run
        };

        drop(kept);

        setting.eventually_nothing_is_left().await;
        drop(agents);
    }
}

/// Who asks for a session after the end of the run gets one, which stands alone.
#[tokio::test]
async fn a_session_after_the_end_of_the_run_keeps_nothing() {
    let run = Run::of(greeting());
    run.play(run.spec()).await;
    run.end().await;

    run.play(run.spec()).await;

    run.assert_nothing_is_left();
}

const FOLDER: &str = "AUTONOE_TEST_IDLE_HOST_FOLDER";
const MODEL: &str = "AUTONOE_TEST_IDLE_HOST_MODEL";

/// The test is the host too: it starts itself again in that role.
#[tokio::test]
async fn a_host_that_is_killed_while_a_program_is_kept_leaves_no_process() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let place = Place {
            folder: folder.into(),
            model: std::env::var(MODEL).expect("it is said"),
            is_sandboxed: false,
        };
        let kept = autonoe_core::KeptForRun::default();
        let mut spec = place.spec([]);
        spec.keeping = kept.keeping();
        let mut client = place.client(spec);
        let (_, error) = crate::setting::events_of(client.as_mut(), "Say hello.").await;
        assert!(error.is_none(), "{error:?}");
        client.dispose().await.expect("it ends");
        std::fs::write(place.file("kept"), "1").expect("writable");
        return future::pending().await;
    }
    let setting = greeting();
    let variables = [
        (FOLDER, setting.folder.as_os_str()),
        (MODEL, setting.model.as_ref()),
    ];
    let name =
        "one_program::endings::a_host_that_is_killed_while_a_program_is_kept_leaves_no_process";
    let mut host = Host::start(name, variables, &setting.folder.join("host.log"));
    setting.written("kept").await;
    assert_eq!(setting.programs().len(), 1);

    host.kill();

    eventually("the end of the last process", || {
        setting.processes().is_empty()
    })
    .await;
}
