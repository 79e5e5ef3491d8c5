//! A question, and another one in the same conversation.

use autonoe_testkit::model_server::{ModelScript, Turn};

use crate::backends::backend::Backend;
use crate::everyday::workplace::Workplace;
use crate::runs::support::autonoe::CommandOutput;

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
