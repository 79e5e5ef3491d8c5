//! Errors and their codes, layers and causes.

use std::collections::HashSet;
use std::error::Error;

use autonoe_flow::validate::FindingKind;
use autonoe_flow::{FlowError, FlowErrorKind, FlowLayer, load};

use crate::support::Folder;

#[test]
fn error_kinds_have_codes_layers_and_recoverability() {
    let mut listed = String::new();
    for kind in FlowErrorKind::ALL {
        let layer = kind.layer().name();
        let recoverable = if kind.is_recoverable() {
            "recoverable"
        } else {
            "fatal"
        };
        listed += &format!("{layer:13} {:25} {recoverable}\n", kind.code());
    }

    insta::assert_snapshot!(listed);
    let codes: HashSet<_> = FlowErrorKind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), FlowErrorKind::ALL.len());
}

#[test]
fn every_layer_of_the_contract_has_errors() {
    for layer in FlowLayer::ALL {
        let has_errors = FlowErrorKind::ALL.iter().any(|kind| kind.layer() == layer);

        assert!(has_errors, "{layer:?}");
    }
}

#[test]
fn every_finding_has_a_code_of_its_own() {
    let codes: HashSet<_> = FindingKind::ALL.iter().map(|kind| kind.code()).collect();

    assert_eq!(codes.len(), FindingKind::ALL.len());
}

#[test]
fn an_error_keeps_its_iteration_and_its_cause_and_does_not_repeat_it() {
    let cause = std::io::Error::other("the line is dead");

    let error = FlowError::new(FlowErrorKind::SdkConnection, "the agent cannot be reached")
        .at_iteration(4)
        .with_cause(cause);

    assert_eq!(error.to_string(), "the agent cannot be reached");
    assert_eq!(
        error.source().expect("a cause").to_string(),
        "the line is dead"
    );
    assert_eq!((error.iteration(), error.is_recoverable()), (Some(4), true));
    assert_eq!(
        (error.code(), error.layer()),
        ("sdk_connection", FlowLayer::SdkBridge)
    );
}

#[test]
fn missing_and_invalid_definitions_have_different_codes() {
    let folder = Folder::new();
    let missing = load(&folder.dir.join("elsewhere")).expect_err("nothing is there");
    folder.write("agent.json", "{");
    let wrong = load(&folder.dir).expect_err("it is cut off");

    assert_eq!(FlowError::from(missing).code(), "configuration_not_found");
    assert_eq!(FlowError::from(wrong).code(), "configuration_parse");
}
