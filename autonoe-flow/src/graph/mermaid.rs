//! A flow in the language of Mermaid.

use std::fmt::Write;

use super::model::{FlowGraph, Line, Shape};

impl FlowGraph {
    /// Returns the graph in the language of Mermaid, which many viewers of Markdown draw.
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
            // Nodes have numbers: an id such as `end` would be a word of the language.
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

/// Writes what means something in the language, or in HTML, as numbers of characters.
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
