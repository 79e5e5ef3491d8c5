//! Tests of executors by name, and of invalid tasks.

use std::sync::Arc;

use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::ExecuteError;
use autonoe_harness::{AgentExecutor, Execution, Executor, Executors};
use autonoe_testkit::{ScriptedBackend, VirtualClock};

use crate::executor::fixture::{Fixture, done, task};

fn executor(name: &str, tasks: usize) -> Arc<dyn Executor> {
    let agents = ScriptedBackend::new(std::iter::repeat_n(done(), tasks)).unverified();
    let executor = AgentExecutor::new(name, Arc::new(agents), std::env::temp_dir());
    Arc::new(executor.clock(Arc::new(VirtualClock::new())))
}

#[tokio::test(start_paused = true)]
async fn a_task_names_its_executor() {
    let executors = Executors::default()
        .executor(executor("gemini", 1))
        .executor(executor("codex", 1));
    assert_eq!(executors.names().collect::<Vec<_>>(), ["codex", "gemini"]);

    for (cli, expected) in [(None, "gemini"), (Some("codex"), "codex")] {
        let mut task = task("Do it.");
        task.cli = cli.map(str::to_owned);

        let result = executors.run(&task, &Execution::default()).await;

        let result = result.expect("the task is right");
        assert_eq!(result.cli, expected);
        let verified = executors
            .verify_success(&task, &result, &VerificationBudget::default())
            .await;
        assert!(verified.expect("it is known").is_success());
    }
    let usual = executors.default_executor("codex");
    let picked = usual.for_task(&task("Do it.")).expect("it is known");
    assert_eq!(picked.cli_name(), "codex");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_name_is_reported_with_the_known_ones() {
    let executors = Executors::default()
        .executor(executor("gemini", 0))
        .executor(executor("codex", 0));
    let task = task("Do it.").cli("claud");

    let error = executors.run(&task, &Execution::default()).await;

    let error = error.expect_err("there is none").to_string();
    assert_eq!(
        error,
        "there is no executor \"claud\"; known executors: codex, gemini"
    );
}

#[tokio::test(start_paused = true)]
async fn an_invalid_task_is_not_started() {
    let fixture = Fixture::new([]);
    let run = async |task| {
        let result = fixture.executor.run(&task, &Execution::default()).await;
        result.expect_err("it is wrong")
    };

    assert!(matches!(run(task(" ")).await, ExecuteError::Invalid(_)));
    let other = run(task("Do it.").cli("gemini")).await;
    assert!(matches!(other, ExecuteError::WrongCli { .. }), "{other}");
    for outside in ["..", "/", "missing"] {
        let error = run(task("Do it.").cwd(outside)).await;
        assert!(matches!(error, ExecuteError::Folder { .. }), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_done_in_its_folder() {
    let fixture = Fixture::new([autonoe_testkit::SessionScript::new("work")
        .performs(|folder| std::fs::write(folder.join("here"), "x").expect("a file"))
        .says("Done.")
        .ends()]);
    std::fs::create_dir(fixture.path().join("sub")).expect("a folder");

    let result = fixture.run(&task("Do it.").cwd("sub")).await;

    assert!(result.is_success(), "{result:?}");
    assert!(fixture.path().join("sub/here").is_file());
}
