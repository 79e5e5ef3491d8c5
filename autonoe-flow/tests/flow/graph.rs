//! Diagrams of flows.

use autonoe_flow::definition::StepsRegistry;
use autonoe_flow::{FlowGraph, load};
use serde_json::{Value, json};

use crate::support::full_folder;

fn full() -> FlowGraph {
    let definition = load(&full_folder()).expect("it can be loaded");
    FlowGraph::new(definition.registry())
}

fn graph(registry: Value) -> FlowGraph {
    let registry: StepsRegistry = serde_json::from_value(registry).expect("steps");
    FlowGraph::new(&registry)
}

/// Names and labels with special characters of each language.
fn nasty() -> FlowGraph {
    let name = "\"quotes\" <b>&amp; #35; `x` \\ {uv-x} ]]> \n -- %%";
    graph(json!({
        "entryStep": "a",
        "steps": {
            "a": {"type": "gateway", "name": name, "default": "end",
                  "branches": [{"when": {"data": "/context/step", "equals": "<\"&\\"}, "next": "end"}]},
        },
    }))
}

#[test]
fn mermaid_graph_matches_snapshot() {
    insta::assert_snapshot!(full().to_mermaid());
}

#[test]
fn dot_graph_matches_snapshot() {
    insta::assert_snapshot!(full().to_dot());
}

#[test]
fn every_step_and_every_way_is_drawn_in_each_language() {
    let graph = full();
    // Start, end and eight steps.
    let (nodes, edges) = (10, 15);

    let mermaid = graph.to_mermaid();
    assert_eq!(
        mermaid
            .lines()
            .filter(|line| line.contains("(\"") || line.contains("[\"") || line.contains("{\""))
            .count(),
        nodes
    );
    assert_eq!(
        mermaid.lines().filter(|line| line.contains("->")).count(),
        edges
    );

    let dot = graph.to_dot();
    assert_eq!(
        dot.lines().filter(|line| line.contains("shape=")).count(),
        nodes
    );
    assert_eq!(
        dot.lines().filter(|line| line.contains(" -> ")).count(),
        edges
    );
}

#[test]
fn the_name_of_a_step_cannot_change_the_diagram() {
    let graph = nasty();

    let (mermaid, dot) = (graph.to_mermaid(), graph.to_dot());

    assert_eq!(mermaid.lines().count(), 1 + 3 + 3, "{mermaid}");
    for line in mermaid.lines().filter(|line| line.contains('"')) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
        assert!(!line.contains("<b>"), "{line}");
    }
    assert_eq!(dot.lines().count(), 4 + 3 + 3 + 1, "{dot}");
}

#[test]
fn a_step_that_is_not_there_is_drawn_as_missing_and_once() {
    let graph = graph(json!({
        "entryStep": "a",
        "steps": {"a": {"prompt": "a.md", "transition": {"next": "gone", "fallback": "gone"}}},
    }));

    let mermaid = graph.to_mermaid();

    assert_eq!(mermaid.matches("missing").count(), 1, "{mermaid}");
    assert_eq!(mermaid.matches("n3").count(), 3, "{mermaid}");
}
