//! Conversations that continue: a question with another one, and a flow with a second step.

use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::backends::backend::Backend;
use crate::everyday::workplace::Workplace;
use crate::runs::support::autonoe::CommandOutput;

pub(crate) fn a_step_continues_the_conversation_of_the_step_before(backend: Backend) {
    let workplace = Workplace::new(backend, "project");
    let agent = json!({
        "version": "1", "name": "talk", "behavior": {"completionType": "stepMachine"},
    });
    let step = |name: &str, next: &str| json!({"prompt": format!("prompts/{name}.md"), "transition": {"next": next}});
    let steps = json!({"keep": step("keep", "recall"), "recall": step("recall", "end")});
    let registry = json!({"entryStep": "keep", "steps": steps});
    for (file, text) in [
        ("agent.json", agent.to_string()),
        ("steps_registry.json", registry.to_string()),
        ("prompts/keep.md", "Keep the word walnut.".to_owned()),
        ("prompts/recall.md", "Which word was it?".to_owned()),
    ] {
        workplace.write(&format!(".autonoe/flows/talk/{file}"), &text);
    }
    let answers = ["I keep it in mind.", "The word was walnut."];
    let server = backend.serve_script(ModelScript::new(answers.map(Turn::text)));

    let flow = workplace.command_on(&server, &["flow", "run", "talk", "--json"]);
    let ended = CommandOutput::run(flow);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(result["complete"], true, "{ended:?}");
    server.verify();
    let requests = server.log().main_requests();
    let second = requests[1].raw.to_string();
    let texts = [
        "Keep the word walnut.",
        "I keep it in mind.",
        "Which word was it?",
    ];
    let places = texts.map(|text| second.find(text));
    assert!(places.iter().all(Option::is_some), "{second}");
    assert!(places.is_sorted(), "{second}");
    workplace.wait_for_processes();
    assert!(!workplace.exists(".autonoe/conversations/flow"));
}

pub(crate) fn a_question_is_answered_and_continued(backend: Backend) {
    let workplace = Workplace::new(backend, "project");
    let script = ModelScript::new([
        Turn::text("The greeting is missing."),
        Turn::text("In greeting.txt."),
    ]);
    let server = backend.serve_script(script);

    let first =
        CommandOutput::run(workplace.ask_command(&server, &["why does", "the build fail?"]));
    let second = CommandOutput::run(workplace.ask_command(&server, &["--continue", "where?"]));

    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(first.stdout, "The greeting is missing.\n", "{first:?}");
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(second.stdout, "In greeting.txt.\n", "{second:?}");
    assert!(second.stderr.contains(" in total"), "{second:?}");
    server.verify();
    let requests = server.log().main_requests();
    let last = requests.last().expect("a request").raw.to_string();
    for text in [
        "why does the build fail?",
        "The greeting is missing.",
        "where?",
    ] {
        assert!(last.contains(text), "{text}: {last}");
    }
    assert!(!workplace.exists(".autonoe/journal.jsonl"));
    assert!(!workplace.exists(".autonoe/status.json"));
    workplace.wait_for_processes();
}
