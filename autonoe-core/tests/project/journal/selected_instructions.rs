//! Selected instructions in timelines and previews.

use std::time::Duration;

use autonoe_core::event::InstructionName;
use autonoe_core::project::{NextAction, RunPreview, RunTimeline, SandboxSwitch};
use autonoe_core::run::SelectionContext;
use autonoe_core::{Mode, ProjectRun, RunControl};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};

use super::{create, run};

/// A run whose second session is a review.
fn run_with_review(project: &TempProject, agents: ScriptedBackend) -> ProjectRun {
    run(project, agents).configure(|runner| {
        runner.instruction_selector(|context: &SelectionContext| match context.session {
            2 => InstructionName::new("review"),
            _ => context.default_instruction(),
        })
    })
}

#[tokio::test(start_paused = true)]
async fn timeline_and_preview_name_the_selected_instruction() {
    let project =
        TempProject::new().instruction(&InstructionName::new("review"), "Review the code.");
    let plans = SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", create(&["A"]))
        .ends();
    let hangs = SessionScript::new("hangs").says("working").hangs();
    let agents = ScriptedBackend::new([plans, hangs]).unverified();
    {
        let control = RunControl::new();
        let run = run_with_review(&project, agents).run(&control);
        let interrupted = tokio::time::timeout(Duration::from_secs(60), run).await;
        assert!(interrupted.is_err(), "the agent hangs");
    }

    let journal = project.journal();
    let history = journal.run_histories().pop().expect("a run");
    let timeline = RunTimeline::from_journal(&journal, &history.run).expect("it has lines");
    let preview = RunPreview::new(project.project(), Mode::Run, SandboxSwitch::default());

    let expected = ["initializer", "review"];
    let spans = timeline.sessions.iter();
    let in_timeline: Vec<_> = spans.map(|span| span.instruction.as_str()).collect();
    assert_eq!(in_timeline, expected);
    match preview.expect("a run could start").next {
        NextAction::Session {
            number,
            instruction,
            text,
            tools,
            ..
        } => {
            assert_eq!((number, instruction.as_str()), (2, "review"));
            assert_eq!((text.text.as_str(), tools.len()), ("Review the code.", 0));
        }
        other => panic!("{other:?}"),
    }
}
