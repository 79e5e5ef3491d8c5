//! [`FlowGraph`]: the steps of a flow as nodes and edges, rendered in Mermaid or DOT.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::definition::{
    AfterFailure, NotificationMethod, ReturnFlow, Step, StepEscalation, StepId, StepsRegistry,
    Target,
};
use crate::walk::{EdgeKind, edges};

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
    /// The start is the first node, the end the second.
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The nodes of steps, including missing ones.
    index: BTreeMap<StepId, usize>,
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

const START: usize = 0;
const END: usize = 1;

impl FlowGraph {
    /// Builds the graph of the steps.
    pub fn new(registry: &StepsRegistry) -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            index: BTreeMap::new(),
        };
        graph.node(Shape::Start, vec!["start".to_owned()]);
        graph.node(Shape::End, vec!["end".to_owned()]);
        for (id, step) in &registry.steps {
            let index = graph.step_node(id, step);
            graph.index.insert(id.clone(), index);
        }
        graph.edge(START, &registry.entry_step.clone().into(), "", Line::Solid);
        for (id, step) in &registry.steps {
            graph.step_edges(id, step, registry);
        }
        graph
    }

    fn node(&mut self, shape: Shape, lines: Vec<String>) -> usize {
        self.nodes.push(Node { shape, lines });
        self.nodes.len() - 1
    }

    /// Adds the node of a step: its ID, its name if that differs, and its number of retries.
    fn step_node(&mut self, id: &StepId, step: &Step) -> usize {
        let shape = match step {
            Step::Normal(_) => Shape::Normal,
            Step::Gateway(_) => Shape::Gateway,
            Step::SubStep(_) => Shape::SubStep,
        };
        let name = step.name().filter(|name| *name != id.as_str());
        let retries = step.work().map_or(0, |work| work.plan().max_retries);
        let mut lines = vec![id.to_string()];
        lines.extend(name.map(str::to_owned));
        lines.extend((retries > 0).then(|| format!("retries: {retries}")));
        self.node(shape, lines)
    }

    fn step_edges(&mut self, id: &StepId, step: &Step, registry: &StepsRegistry) {
        let at = self.index[id];
        let has_check = step.work().is_some_and(|work| work.check.is_some());
        for edge in edges(id, step, registry) {
            let (label, line) = match edge.kind {
                EdgeKind::Pass if has_check => ("pass".to_owned(), Line::Solid),
                EdgeKind::Pass => (String::new(), Line::Solid),
                EdgeKind::Fail => ("fail".to_owned(), Line::Dashed),
                EdgeKind::Skip => ("skip".to_owned(), Line::Dashed),
                EdgeKind::Default => ("else".to_owned(), Line::Solid),
                EdgeKind::Branch(index) => (branch_label(step, index), Line::Solid),
                // Drawn by `escalation`, which also adds the notified step.
                EdgeKind::Resume | EdgeKind::Restart => continue,
            };
            self.edge(at, &edge.to, &label, line);
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
            self.escalation(at, id, &escalation, &registry.entry_step);
        }
    }

    fn escalation(&mut self, at: usize, id: &StepId, escalation: &StepEscalation, entry: &StepId) {
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
        let (label, target) = match escalation.return_flow {
            ReturnFlow::Resume => ("resume", id),
            ReturnFlow::Restart => ("restart", entry),
            ReturnFlow::Abort => return,
        };
        self.edge(from, &target.clone().into(), label, Line::Dashed);
    }

    /// Adds an edge, and returns its target node.
    fn edge(&mut self, from: usize, to: &Target, label: &str, line: Line) -> usize {
        let to = match to {
            Target::End => END,
            Target::Step(id) => match self.index.get(id) {
                Some(index) => *index,
                None => {
                    let lines = vec![id.to_string(), "missing".to_owned()];
                    let index = self.node(Shape::Missing, lines);
                    self.index.insert(id.clone(), index);
                    index
                }
            },
        };
        let label = label.to_owned();
        self.edges.push(Edge {
            from,
            to,
            label,
            line,
        });
        to
    }
}

/// Returns the condition of a branch.
fn branch_label(step: &Step, index: usize) -> String {
    match step {
        Step::Gateway(gateway) => gateway.branches[index].when.to_string(),
        Step::Normal(_) | Step::SubStep(_) => String::new(),
    }
}

impl FlowGraph {
    /// Renders the graph as a Mermaid flowchart, which many Markdown viewers draw.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (index, node) in self.nodes.iter().enumerate() {
            let lines = node.lines.iter().map(|line| mermaid_escaped(line));
            let label = Vec::from_iter(lines).join("<br>");
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
            let lines = node.lines.iter().map(|line| dot_escaped(line));
            let label = Vec::from_iter(lines).join("\\n");
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
            let attributes = match attributes.join(", ").as_str() {
                "" => String::new(),
                attributes => format!(" [{attributes}]"),
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
