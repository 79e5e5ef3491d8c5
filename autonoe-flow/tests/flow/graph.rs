//! Flows as pictures.

use autonoe_flow::{FlowGraph, StepsRegistry, load};
use serde_json::{Value, json};

use crate::support::{full_folder, step};

fn full() -> FlowGraph {
    let definition = load(&full_folder()).expect("it can be loaded");
    FlowGraph::of(definition.registry())
}

fn graph(registry: Value) -> FlowGraph {
    let registry: StepsRegistry = serde_json::from_value(registry).expect("steps");
    FlowGraph::of(&registry)
}

/// Names and labels with everything in them that means something in some language.
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
fn a_flow_in_mermaid() {
    insta::assert_snapshot!(full().to_mermaid());
}

#[test]
fn a_flow_in_dot() {
    insta::assert_snapshot!(full().to_dot());
}

#[test]
fn a_flow_in_svg() {
    insta::assert_snapshot!(full().to_svg());
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

    let svg = graph.to_svg();
    assert_eq!(svg.matches("<g>").count(), nodes);
    assert_eq!(svg.matches("marker-end").count(), edges);
}

#[test]
fn what_a_step_is_named_cannot_change_the_picture() {
    let graph = nasty();

    let (mermaid, dot, svg) = (graph.to_mermaid(), graph.to_dot(), graph.to_svg());

    assert_eq!(mermaid.lines().count(), 1 + 3 + 3, "{mermaid}");
    for line in mermaid.lines().filter(|line| line.contains('"')) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
        assert!(!line.contains("<b>"), "{line}");
    }
    assert_eq!(dot.lines().count(), 4 + 3 + 3 + 1, "{dot}");
    assert!(!svg.contains("<b>"), "{svg}");
    let opened = svg.matches('<').count();
    assert_eq!(opened, svg.matches('>').count(), "{svg}");
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

#[test]
fn no_two_nodes_overlap_and_all_are_inside() {
    let mut steps = serde_json::Map::new();
    for number in 0..30 {
        let next = format!("s{}", (number * 7 + 3) % 30);
        let fallback = format!("s{}", (number * 11 + 5) % 30);
        let mut one = step(&next);
        one["transition"]["fallback"] = fallback.into();
        steps.insert(format!("s{number}"), one);
    }
    let svg = graph(json!({"entryStep": "s0", "steps": steps})).to_svg();

    let number = |tag: &str, name: &str| -> f64 {
        let value = tag
            .split(&format!(" {name}=\""))
            .nth(1)
            .expect("it has one");
        value
            .split('"')
            .next()
            .expect("closed")
            .parse()
            .expect("a number")
    };
    let (width, height) = (number(&svg, "width"), number(&svg, "height"));
    let boxes: Vec<[f64; 4]> = svg
        .lines()
        .filter(|line| line.contains("<rect class=\"node"))
        .map(|line| ["x", "y", "width", "height"].map(|name| number(line, name)))
        .collect();
    assert_eq!(boxes.len(), 32);
    for (index, [x, y, w, h]) in boxes.iter().enumerate() {
        assert!(*x >= 0.0 && *y >= 0.0 && x + w <= width && y + h <= height);
        for [x2, y2, w2, h2] in &boxes[..index] {
            let is_apart = x + w <= *x2 || x2 + w2 <= *x || y + h <= *y2 || y2 + h2 <= *y;
            assert!(is_apart, "{index}");
        }
    }
}
