//! A custom job on an engine, which starts it, delivers instructions to it and stores its outcome.
//!
//! Run it with `cargo run --example custom_job`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::PathBuf;

use autonoe_core::agent::{SessionEnd, SessionOutcome};
use autonoe_core::engine::{
    Engine, JobContext, JobRunner, LocalEngine, Placement, RunOutcome, RunProgress, RunSpec,
};
use autonoe_core::event::Failure;
use autonoe_core::run::FlowExit;
use autonoe_core::session::FlowStart;
use autonoe_core::{RunId, SessionOrder, SessionRunner, async_trait};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

/// Prompts an agent with the question in the run's input.
struct Ask {
    project: PathBuf,
}

#[async_trait]
impl JobRunner for Ask {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let answer = self.run_session(run, context).await;
        context.report(RunProgress::new(1.0));
        match answer {
            Ok(answer) => RunOutcome::succeeded(json!({ "answer": answer })),
            Err(error) => RunOutcome::failed(Failure::permanent("no_answer", error.to_string())),
        }
    }
}

impl Ask {
    async fn run_session(
        &self,
        run: &RunSpec,
        context: &JobContext,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let question = run.input.as_str().ok_or("the input is not a text")?;
        // The agents of a backend; use your own here.
        let agents = ScriptedBackend::new([SessionScript::new("answers").says("42.").ends()]);
        let builder = SessionRunner::builder(&self.project).agents(agents);
        // `context.control()` cancels the sessions together with the run.
        let mut open = builder
            .build_sessions()?
            .open(FlowStart::new("ask"), context.control())
            .await?;
        let session = open.run(SessionOrder::new(question)).await;
        open.close(FlowExit::Completed, json!({}));
        match session.result.end {
            SessionEnd::Outcome(SessionOutcome::Completed) => Ok(session.answer),
            other => Err(format!("the session did not complete: {other:?}").into()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = std::env::current_dir()?;
    let engine = LocalEngine::new(Ask { project });
    for (id, input) in [
        ("answer", json!("What is the answer?")),
        ("mistake", json!(42)),
    ] {
        let run = RunSpec::new(RunId::new(id), "ask", input);
        let id = engine.submit(run, Placement::anywhere()).await?;
        let outcome = engine.wait(&id).await?;
        println!("{id}: {:?} {}", outcome.ending, outcome.output);
    }
    Ok(())
}
