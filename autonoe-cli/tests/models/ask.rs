//! `autonoe ask` on a model of each provider, for an operator with only an API key.

use autonoe_testkit::model_server::{PromptBlock, Turn};
use serde_json::json;

use crate::models::fixture::{CommandOutput, Fixture, KEY};
use crate::models::vendor::{Server, Vendor};

fn run_ask(fixture: &Fixture, vendor: Vendor, arguments: &[&str]) -> CommandOutput {
    let mut command = fixture.command(&["ask"]);
    let backend = format!("--backend=model:scripted/{}", vendor.model());
    command.arg(backend).args(arguments);
    command.output().expect("it starts").into()
}

/// Returns the texts of the last request, in order.
fn last_texts(server: &Server) -> Vec<String> {
    let requests = server.log().main_requests();
    let last = requests.last().expect("a request");
    let blocks = last.messages.iter().flat_map(|message| &message.content);
    let texts = blocks.filter_map(|block| match block {
        PromptBlock::Text(text) | PromptBlock::SignedText { text, .. } => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_question_is_answered_and_continued_on_every_provider() {
    for vendor in Vendor::ALL {
        let server = vendor.serve([
            Turn::tool("Read", json!({"file_path": "SPEC.md"})),
            Turn::text("The greeting is missing."),
            Turn::text("In greeting.txt."),
        ]);
        let fixture = Fixture::on(vendor, &server);

        let first = run_ask(&fixture, vendor, &["why does", "the build fail?"]);
        let second = run_ask(&fixture, vendor, &["--continue", "where?"]);

        assert_eq!(first.code, Some(0), "{vendor:?}: {first:?}");
        assert_eq!(first.stdout, "The greeting is missing.\n", "{vendor:?}");
        assert!(first.stderr.contains(", 1 tool, "), "{vendor:?}: {first:?}");
        assert_eq!(second.code, Some(0), "{vendor:?}: {second:?}");
        assert_eq!(second.stdout, "In greeting.txt.\n", "{vendor:?}");
        assert!(
            second.stderr.contains(" in total"),
            "{vendor:?}: {second:?}"
        );
        server.verify();
        let texts = last_texts(&server).join("\n");
        let places = [
            "why does the build fail?",
            "The greeting is missing.",
            "where?",
        ]
        .map(|text| texts.find(text));
        assert!(
            places.is_sorted() && places.iter().all(Option::is_some),
            "{vendor:?}: {texts}"
        );
    }
}

#[test]
fn the_limit_of_model_calls_ends_an_answer_with_its_own_exit_code() {
    let vendor = Vendor::Anthropic;
    let server = vendor
        .serve([
            Turn::tool("Read", json!({"file_path": "SPEC.md"})),
            Turn::text("never said"),
        ])
        .unverified();
    let fixture = Fixture::on(vendor, &server);

    let output = run_ask(&fixture, vendor, &["--max-turns=1", "why?"]);

    assert_eq!(output.code, Some(4), "{output:?}");
    assert_eq!(server.log().main_requests().len(), 1);
    assert_eq!(output.stdout, "");
}

#[test]
fn no_key_is_in_any_output_or_file() {
    let vendor = Vendor::Anthropic;
    let server = vendor.serve([
        Turn::tool("Bash", json!({"command": "echo \"key=[$THE_KEY]\""})),
        Turn::text("There is no key."),
    ]);
    let fixture = Fixture::on(vendor, &server);

    let output = run_ask(&fixture, vendor, &["--debug", "which key is set?"]);

    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("key=[]"), "{output:?}");
    for text in [&output.stdout, &output.stderr] {
        assert!(!text.contains(KEY), "{output:?}");
    }
    for (path, content) in fixture.files() {
        let content = String::from_utf8_lossy(&content);
        assert!(!content.contains(KEY), "{path:?}");
    }
}

#[test]
fn a_missing_key_is_an_error_with_the_name_of_its_variable() {
    let vendor = Vendor::Anthropic;
    let server = vendor.serve([Turn::text("never said")]).unverified();
    let fixture = Fixture::on(vendor, &server);
    let mut command = fixture.command(&["ask", "hello"]);
    command
        .arg(format!("--backend=model:scripted/{}", vendor.model()))
        .env_remove("THE_KEY");

    let output: CommandOutput = command.output().expect("it starts").into();

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("THE_KEY"), "{output:?}");
    assert_eq!(output.stdout, "");
}
