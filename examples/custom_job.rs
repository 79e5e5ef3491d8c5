//! A job of your own on an engine, which starts it, reaches it and keeps its outcome.
//!
//! Run it with `cargo run --example custom_job`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::PathBuf;

use autonoe_core::{
    Engine, Failure, FlowExit, FlowStart, JobRunner, LocalEngine, Placement, RunDesk, RunId,
    RunOutcome, RunProgress, RunSpec, SessionEnd, SessionOrder, SessionOutcome, SessionRunner,
    async_trait,
};
use autonoe_scripted::{ScriptedAgents, SessionScript};
use serde_json::json;

/// Asks an agent the question that is the input of the run.
struct Ask {
    project: PathBuf,
}

#[async_trait]
impl JobRunner for Ask {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let answer = self.ask(run, desk).await;
        desk.report(RunProgress::of(1.0));
        match answer {
            Ok(answer) => RunOutcome::succeeded(json!({ "answer": answer })),
            Err(error) => RunOutcome::failed(Failure::permanent("no_answer", error.to_string())),
        }
    }
}

impl Ask {
    async fn ask(
        &self,
        run: &RunSpec,
        desk: &RunDesk,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let question = run.input.as_str().ok_or("the input is no question")?;
        // The agents of a backend, in your program.
        let agents = ScriptedAgents::new([SessionScript::new("answers").says("42.").ends()]);
        let builder = SessionRunner::builder(&self.project).agents(agents);
        // `desk.control()` cancels the sessions with the run.
        let mut open = builder
            .build_sessions()?
            .open(FlowStart::new("ask"), desk.control())
            .await?;
        let session = open.run(SessionOrder::new(question)).await;
        open.close(FlowExit::Completed, json!({}));
        match session.result.end {
            SessionEnd::Outcome(SessionOutcome::Completed) => Ok(session.answer),
            other => Err(format!("the session ended otherwise: {other:?}").into()),
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
