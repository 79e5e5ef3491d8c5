//! [`FlowGraph`]: the steps of a flow as nodes and edges, rendered in Mermaid or DOT.

use std::fmt::Write;

use crate::definition::{
    AfterFailure, NotificationMethod, ReturnFlow, Step, StepEscalation, StepId, StepsRegistry,
    Target, WorkStep,
};
use crate::walk::{Edge as OutEdge, EdgeKind as When, edges};

/// The steps of a flow as a graph.
///
/// The flow need not be valid: a step that is referenced and not defined is drawn as missing.
///
/// ```
/// use autonoe_flow::definition::StepsRegistry;
/// use autonoe_flow::FlowGraph;
///
/// let registry: StepsRegistry = serde_json::from_str(
///     r#"{"entryStep": "draft", "steps": {"draft": {"prompt": "a.md", "transition": {"next": "end"}}}}"#,
/// )?;
/// let graph = FlowGraph::new(&registry);
///
/// assert!(graph.to_mermaid().starts_with("flowchart TD\n"));
/// assert!(graph.to_dot().starts_with("digraph flow {\n"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGraph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    shape: Shape,
    /// The ID, and further details, one per line.
    lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Start,
    End,
    Normal,
    Gateway,
    SubStep,
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    label: String,
    line: Line,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// A regular transition.
    Solid,
    /// A transition after a failure.
    Dashed,
    /// The relation of a step to its sub-steps, which is not a transition.
    Dotted,
}

/// The start is the first node, the end the second.
const START: usize = 0;
const END: usize = 1;

impl FlowGraph {
    /// Builds the graph of the steps.
    pub fn new(registry: &StepsRegistry) -> Self {
        let mut graph = Builder {
            registry,
            nodes: vec![node(Shape::Start, ["start"]), node(Shape::End, ["end"])],
            edges: Vec::new(),
            missing: Vec::new(),
        };
        for (id, step) in &registry.steps {
            graph.nodes.push(step_node(id, step));
        }
        let entry = Target::Step(registry.entry_step.clone());
        graph.edge(START, &entry, "", Line::Solid);
        for (index, (id, step)) in registry.steps.iter().enumerate() {
            graph.step(index + 2, id, step);
        }
        Self {
            nodes: graph.nodes,
            edges: graph.edges,
        }
    }
}

fn node<const N: usize>(shape: Shape, lines: [&str; N]) -> Node {
    Node {
        shape,
        lines: lines.map(str::to_owned).to_vec(),
    }
}

/// Returns the node of a step: its ID, its name if that differs, and its number of retries.
fn step_node(id: &StepId, step: &Step) -> Node {
    let shape = match step {
        Step::Normal(_) => Shape::Normal,
        Step::Gateway(_) => Shape::Gateway,
        Step::SubStep(_) => Shape::SubStep,
    };
    let mut lines = vec![id.to_string()];
    lines.extend(
        step.name()
            .filter(|name| *name != id.as_str())
            .map(str::to_owned),
    );
    if let Some(work) = step.work() {
        let retries = work.plan().max_retries;
        if retries > 0 {
            lines.push(format!("retries: {retries}"));
        }
    }
    Node { shape, lines }
}

struct Builder<'a> {
    registry: &'a StepsRegistry,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    missing: Vec<(StepId, usize)>,
}

impl Builder<'_> {
    fn step(&mut self, at: usize, id: &StepId, step: &Step) {
        for edge in edges(id, step, self.registry) {
            // Escalations are drawn by `escalation`, which also adds the notified step.
            if !matches!(edge.kind, When::Resume | When::Restart) {
                let (label, line) = label_and_line(&edge, step);
                self.edge(at, &edge.to, &label, line);
            }
        }
        let Some(work) = step.work() else {
            return;
        };
        for (index, sub) in work.sub_steps.iter().enumerate() {
            let label = format!("part {}", index + 1);
            self.edge(at, &sub.clone().into(), &label, Line::Dotted);
        }
        if let (Step::Normal(_), AfterFailure::Escalate(escalation)) =
            (step, work.plan().after_failure)
        {
            self.escalation(at, id, &escalation);
        }
    }

    fn escalation(&mut self, at: usize, id: &StepId, escalation: &StepEscalation) {
        let back = match escalation.return_flow {
            ReturnFlow::Resume => Some(("resume", id.clone())),
            ReturnFlow::Restart => Some(("restart", self.registry.entry_step.clone())),
            ReturnFlow::Abort => None,
        };
        let from = match escalation.notification_method {
            NotificationMethod::InAgent => match escalation.escalate_to.parse::<StepId>() {
                Ok(called) => self.edge(at, &called.into(), "escalate", Line::Dashed),
                Err(_) => return,
            },
            NotificationMethod::Webhook => {
                self.nodes[at]
                    .lines
                    .push("escalated to a webhook".to_owned());
                at
            }
            NotificationMethod::Log => {
                self.nodes[at].lines.push("escalated to the log".to_owned());
                at
            }
        };
        if let Some((label, target)) = back {
            self.edge(from, &target.into(), label, Line::Dashed);
        }
    }

    /// Adds an edge, and returns its target node.
    fn edge(&mut self, from: usize, to: &Target, label: &str, line: Line) -> usize {
        let to = match to {
            Target::End => END,
            Target::Step(id) => self.index(id),
        };
        self.edges.push(Edge {
            from,
            to,
            label: label.to_owned(),
            line,
        });
        to
    }

    fn index(&mut self, id: &StepId) -> usize {
        let mut known = self.registry.steps.keys();
        if let Some(index) = known.position(|known| known == id) {
            return index + 2;
        }
        if let Some((_, index)) = self.missing.iter().find(|(known, _)| known == id) {
            return *index;
        }
        self.nodes
            .push(node(Shape::Missing, [id.as_str(), "missing"]));
        let index = self.nodes.len() - 1;
        self.missing.push((id.clone(), index));
        index
    }
}

fn label_and_line(way: &OutEdge, step: &Step) -> (String, Line) {
    let has_check = step
        .work()
        .is_some_and(|work: &WorkStep| work.check.is_some());
    match way.kind {
        When::Pass if has_check => ("pass".to_owned(), Line::Solid),
        When::Pass => (String::new(), Line::Solid),
        When::Fail => ("fail".to_owned(), Line::Dashed),
        When::Skip => ("skip".to_owned(), Line::Dashed),
        When::Default => ("else".to_owned(), Line::Solid),
        When::Branch(index) => {
            let test = match step {
                Step::Gateway(gateway) => gateway.branches.get(index),
                Step::Normal(_) | Step::SubStep(_) => None,
            };
            let label = test.map(|branch| branch.when.to_string());
            (label.unwrap_or_default(), Line::Solid)
        }
        When::Resume | When::Restart => (String::new(), Line::Dashed),
    }
}

impl FlowGraph {
    /// Renders the graph as a Mermaid flowchart, which many Markdown viewers draw.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (index, node) in self.nodes.iter().enumerate() {
            let label: Vec<String> = node
                .lines
                .iter()
                .map(|line| mermaid_escaped(line))
                .collect();
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
                label => format!("|\"{}\"|", mermaid_escaped(label)),
            };
            let _ = writeln!(text, "    n{} {arrow}{label} n{}", edge.from, edge.to);
        }
        text
    }
}

/// Escapes characters with a meaning in Mermaid or HTML as character codes.
fn mermaid_escaped(text: &str) -> String {
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

impl FlowGraph {
    /// Renders the graph in the DOT language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from(
            "digraph flow {\n    rankdir=TB;\n    node [fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\"];\n",
        );
        for (index, node) in self.nodes.iter().enumerate() {
            let label: Vec<String> = node.lines.iter().map(|line| dot_escaped(line)).collect();
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
                attributes.push(format!("label=\"{}\"", dot_escaped(&edge.label)));
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

fn dot_escaped(text: &str) -> String {
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
