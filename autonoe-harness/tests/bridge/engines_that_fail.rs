//! Programs that have no engine, or lose it.

use std::error::Error;
use std::time::Duration;

use autonoe_core::{Engine, EngineError, Placement, RunId, RunSpec};
use autonoe_harness::{PipedProgram, ProgramEngine};
use serde_json::json;

use crate::bridge::stage::{Stage, within};

const GREET: &str = r#"
echo '{"hello":{"protocol":"autonoe-engine","version":1}}'
read hello; read question
"#;

fn words(error: &EngineError) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(because) = cause {
        words.push_str(&format!(": {because}"));
        cause = because.source();
    }
    words
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_without_an_engine_is_told_of() {
    for (script, expected) in [
        (
            "echo 'no such command' >&2; exit 2",
            &["code 2", "no such command"][..],
        ),
        ("echo 'Welcome!'; exec sleep 600", &["Welcome!"]),
        (
            r#"echo '{"hello":{"protocol":"autonoe-engine","version":9}}'; exec sleep 600"#,
            &["version 9 of autonoe-engine", "version 1 of autonoe-engine"],
        ),
    ] {
        let stage = Stage::new();
        let program = stage.shell(script).patience(Duration::ZERO);

        let started = within(ProgramEngine::start(&program)).await;

        let words = words(&started.expect_err("it has none"));
        for word in expected {
            assert!(words.contains(word), "{words}");
        }
        assert_eq!(stage.living(), 0, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_told_of() {
    let started = ProgramEngine::start(&PipedProgram::new("/nowhere/worker", "/")).await;

    let words = words(&started.expect_err("it is not there"));
    assert!(words.contains("there is no program"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_answers_wrongly_is_not_believed() {
    for (script, expected) in [
        (
            "echo 'out of disk' >&2; exit 1",
            &["ended with code 1", "out of disk"][..],
        ),
        ("kill -KILL $$", &["ended by signal 9"]),
        ("echo hm", &["nobody understands", "hm"]),
        ("tr '\\0' x </dev/zero", &["bytes"]),
        (
            r#"echo '{"id":7,"tell":"done"}'"#,
            &["question 7, which nobody asked"],
        ),
        (
            r#"echo '{"id":1,"tell":"done"}'"#,
            &["no answer to what was asked"],
        ),
    ] {
        let stage = Stage::new();
        let program = stage.shell(&format!("{GREET} {script}"));
        let program = program.patience(Duration::ZERO);
        let engine = within(ProgramEngine::start(&program)).await;
        let engine = engine.expect("it says that it has one");
        let run = RunId::new("shop");

        let waited = within(engine.wait(&run)).await;
        let later = within(engine.status(&run)).await;

        let told = waited.expect_err("no answer is no success");
        assert!(matches!(told, EngineError::Gone { .. }), "{told:?}");
        let told = words(&told);
        for word in expected {
            assert!(told.contains(word), "{told}");
        }
        assert!(matches!(later, Err(EngineError::Gone { .. })), "{later:?}");
        drop(engine);
        stage.nothing_is_left().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_wait_are_told_when_the_engine_dies() {
    let stage = Stage::new();
    let program = stage.role("bridge::roles::engine", stage.path());
    let engine = within(ProgramEngine::start(&program)).await;
    let engine = engine.expect("it has an engine");
    let submit = async |name: &str, job: &str| {
        let run = RunSpec::new(RunId::new(name), job, json!(null));
        engine.submit(run, Placement::anywhere()).await
    };
    let held = submit("held", "hold").await.expect("it is taken");
    let waiting = async { tokio::join!(engine.wait(&held), engine.wait(&held)) };
    let crashing = submit("crash", "crash");

    let ((one, other), _) = within(async { tokio::join!(waiting, crashing) }).await;

    for waited in [one, other] {
        let words = words(&waited.expect_err("no answer is no success"));
        assert!(words.contains("ended by signal 6"), "{words}");
    }
    stage.nothing_is_left().await;
}
