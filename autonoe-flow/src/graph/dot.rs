//! Renders a flow in the DOT language of Graphviz.

use std::fmt::Write;

use super::model::{FlowGraph, Line, Shape};

impl FlowGraph {
    /// Renders the graph in the DOT language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from(
            "digraph flow {\n    rankdir=TB;\n    node [fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\"];\n",
        );
        for (index, node) in self.nodes.iter().enumerate() {
            let label: Vec<String> = node.lines.iter().map(|line| escaped(line)).collect();
            let label = label.join("\\n");
            let shape = match node.shape {
                Shape::Start | Shape::End => "shape=oval",
                Shape::Normal => "shape=box, style=rounded",
                Shape::Gateway => "shape=diamond",
                Shape::SubStep => "shape=box, peripheries=2",
                Shape::Missing => "shape=box, style=dashed, color=red",
            };
            let _ = writeln!(text, "    n{index} [label=\"{label}\", {shape}];");
        }
        for edge in &self.edges {
            let mut attributes = Vec::new();
            if !edge.label.is_empty() {
                attributes.push(format!("label=\"{}\"", escaped(&edge.label)));
            }
            match edge.line {
                Line::Solid => {}
                Line::Dashed => attributes.push("style=dashed".to_owned()),
                Line::Dotted => attributes.push("style=dotted".to_owned()),
            }
            let attributes = if attributes.is_empty() {
                String::new()
            } else {
                format!(" [{}]", attributes.join(", "))
            };
            let _ = writeln!(text, "    n{} -> n{}{attributes};", edge.from, edge.to);
        }
        text.push_str("}\n");
        text
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
