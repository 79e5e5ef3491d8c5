//! Resolution of prompts.

use autonoe_flow::definition::PromptRef;
use autonoe_flow::prompt::{PromptOrigin, PromptResolver, Variables};
use autonoe_flow::{FlowErrorKind, load};
use serde_json::{Value, json};

use crate::support::{Folder, agent};

fn reference(value: Value) -> PromptRef {
    serde_json::from_value(value).expect("a reference")
}

/// A flow with prompts in all locations of the search path.
fn flow() -> Folder {
    let folder = Folder::new();
    let places = json!({
        "behavior": {"systemPromptPath": "prompts/system.md"},
        "prompts": {"fallbackDir": "shared"},
    });
    folder.write("agent.json", &agent(places).to_string());
    folder.write("prompts/system.md", "You are {uv-role}.");
    folder.write("prompts/write/draft/issue/f_default.md", "scheme");
    folder.write("prompts/write/draft/issue/f_new_short.md", "adapted");
    folder.write("shared/write/poem/none/f_default.md", "shared scheme");
    folder.write("shared/only.md", "shared path");
    folder.write("prompts/blank.md", " \n");
    folder.write("prompts/open.md", "one\n{uv-topic");
    folder
}

#[test]
fn a_prompt_is_found_by_reference_then_fallback_then_in_the_last_folder() {
    let folder = flow();
    let resolver = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    let draft = json!({"c1": "write", "c2": "draft", "c3": "issue"});
    let short = json!({"c1": "write", "c2": "draft", "c3": "issue", "edition": "new", "adaptation": "short"});
    let missing = json!({"c1": "write", "c2": "draft", "c3": "gone", "fallback": draft});
    let poem = json!({"c1": "write", "c2": "poem", "c3": "none"});
    for (reference_to, text, origin) in [
        (json!("prompts/a.md"), "Go on.", PromptOrigin::Reference),
        (draft, "scheme", PromptOrigin::Reference),
        (short, "adapted", PromptOrigin::Reference),
        (missing, "scheme", PromptOrigin::Fallback),
        (poem, "shared scheme", PromptOrigin::Global),
        (
            json!("prompts/only.md"),
            "shared path",
            PromptOrigin::Global,
        ),
        (
            json!({"path": "prompts/gone.md", "fallback": "prompts/a.md"}),
            "Go on.",
            PromptOrigin::Fallback,
        ),
    ] {
        let found = resolver.resolve(&reference(reference_to.clone()), &Variables::new());

        let found = found.unwrap_or_else(|error| panic!("{reference_to}: {error}"));
        assert_eq!(
            (found.text.as_str(), found.origin),
            (text, origin),
            "{reference_to}"
        );
    }
}

#[test]
fn a_prompt_that_is_nowhere_is_an_error_that_names_every_place() {
    let folder = flow();
    let resolver = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    let prompt = reference(json!({"path": "prompts/x.md", "fallback": "prompts/y.md"}));

    let error = resolver
        .resolve(&prompt, &Variables::new())
        .expect_err("it is nowhere");

    assert_eq!(error.kind(), FlowErrorKind::PromptNotFound);
    assert_eq!(
        error.to_string(),
        "there is no prompt at prompts/x.md, nor at prompts/y.md, nor at shared/x.md, nor at \
         shared/y.md"
    );
}

#[test]
fn broken_prompt_file_is_an_error_instead_of_a_fallback() {
    let folder = flow();
    let resolver = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    for (path, message) in [
        ("prompts/blank.md", "the prompt prompts/blank.md is blank"),
        (
            "prompts/open.md",
            "the prompt prompts/open.md: line 2: `{uv-` has no `}` on its line",
        ),
    ] {
        let prompt = reference(json!({"path": path, "fallback": "prompts/a.md"}));

        let error = resolver
            .resolve(&prompt, &Variables::new())
            .expect_err("it is broken");

        assert_eq!(error.kind(), FlowErrorKind::PromptParse);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_prompt_that_is_blank_once_it_is_filled_is_an_error() {
    let folder = flow();
    folder.write("prompts/a.md", "{uv-topic}");
    let resolver = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    let nothing = Variables::from([("topic".parse().expect("a name"), " ".to_owned())]);

    let error = resolver.resolve(&reference(json!("prompts/a.md")), &nothing);

    assert_eq!(error.expect_err("blank").kind(), FlowErrorKind::PromptParse);
}

#[test]
fn variables_are_filled_by_name_and_an_undefined_one_stays() {
    let folder = flow();
    folder.write("prompts/a.md", "From {uv-origin} to {uv-goal}.");
    let resolver = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    let variables = Variables::from([("origin".parse().expect("a name"), "Tokyo".to_owned())]);

    let found = resolver
        .resolve(&reference(json!("prompts/a.md")), &variables)
        .expect("found");

    assert_eq!(found.text, "From Tokyo to {uv-goal}.");
    assert_eq!(
        Vec::from_iter(found.undefined),
        ["goal".parse().expect("a name")]
    );
}

// Shows: flows/prompts/system
#[test]
fn fills_the_system_prompt_if_there_is_one() {
    let folder = flow();
    let variables = Variables::from([("role".parse().expect("a name"), "a critic".to_owned())]);
    let with = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    folder.write("agent.json", &agent(json!({})).to_string());
    let without = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));

    let found = with
        .resolve_system(&variables)
        .expect("found")
        .expect("named");
    let none = without
        .resolve_system(&variables)
        .expect("nothing is wrong");

    assert_eq!(found.text, "You are a critic.");
    assert_eq!(none, None);
}

#[test]
fn files_are_read_at_every_use() {
    let folder = flow();
    let resolver = PromptResolver::new(&load(&folder.dir).expect("it can be loaded"));
    let prompt = reference(json!("prompts/a.md"));

    folder.write("prompts/a.md", "first");
    let first = resolver.resolve(&prompt, &Variables::new()).expect("found");
    folder.write("prompts/a.md", "second");
    let second = resolver.resolve(&prompt, &Variables::new()).expect("found");

    assert_eq!(
        (first.text.as_str(), second.text.as_str()),
        ("first", "second")
    );
}
