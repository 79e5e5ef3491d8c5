//! [`FlowGraph`]: the steps of a flow as nodes and edges.

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
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) shape: Shape,
    /// The ID, and further details, one per line.
    pub(super) lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Start,
    End,
    Normal,
    Gateway,
    SubStep,
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
    pub(super) line: Line,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
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
