//! Renders a flow as a Mermaid flowchart.

use std::fmt::Write;

use super::model::{FlowGraph, Line, Shape};

impl FlowGraph {
    /// Renders the graph as a Mermaid flowchart, which many Markdown viewers draw.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (index, node) in self.nodes.iter().enumerate() {
            let label: Vec<String> = node.lines.iter().map(|line| escaped(line)).collect();
            let label = label.join("<br>");
            let (open, close) = match node.shape {
                Shape::Start | Shape::End => ("([", "])"),
                Shape::Normal => ("[", "]"),
                Shape::Gateway => ("{", "}"),
                Shape::SubStep => ("[[", "]]"),
                Shape::Missing => ("[/", "/]"),
            };
            // Nodes have numbers, because an ID such as `end` is a keyword of Mermaid.
            let _ = writeln!(text, "    n{index}{open}\"{label}\"{close}");
        }
        for edge in &self.edges {
            let arrow = match edge.line {
                Line::Solid => "-->",
                Line::Dashed | Line::Dotted => "-.->",
            };
            let label = match edge.label.as_str() {
                "" => String::new(),
                label => format!("|\"{}\"|", escaped(label)),
            };
            let _ = writeln!(text, "    n{} {arrow}{label} n{}", edge.from, edge.to);
        }
        text
    }
}

/// Escapes characters with a meaning in Mermaid or HTML as character codes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '<' | '>' | '&' | '#' | '`' | '\\' => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
