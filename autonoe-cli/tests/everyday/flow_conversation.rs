//! A flow whose second step continues the conversation of the first.

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
