//! Places the nodes of a graph in layers, from top to bottom.
//!
//! Edges that lead back are turned round for the time, each node goes below
//! those that lead to it, edges over several layers get a point in each, and
//! within a layer each point moves towards its neighbours in the layers beside.

use super::model::{FlowGraph, Line};

/// Where everything is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) boxes: Vec<Box2>,
    /// The points of each edge, in the order of the edges; empty for one that leads to its own node.
    pub(super) lines: Vec<Vec<(f64, f64)>>,
}

/// A rectangle by its middle and its size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Box2 {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

const BETWEEN_LAYERS: f64 = 64.0;
const BETWEEN_NODES: f64 = 44.0;
const MARGIN: f64 = 24.0;
/// The width that an edge takes where it passes a layer.
const PASSAGE: f64 = 24.0;

/// Places the nodes, whose sizes are given, and the edges between them.
pub(super) fn layout(graph: &FlowGraph, sizes: &[(f64, f64)]) -> Layout {
    let turned = back_edges(graph);
    let layers = layers(graph, &turned);
    let mut grid = Grid::new(graph, sizes, &turned, &layers);
    grid.order();
    grid.place(graph, &turned)
}

/// Tells for each edge whether it leads back to where the walk came from.
fn back_edges(graph: &FlowGraph) -> Vec<bool> {
    let mut turned = vec![false; graph.edges.len()];
    // 0: not seen, 1: on the way, 2: done.
    let mut state = vec![0_u8; graph.nodes.len()];
    for root in 0..graph.nodes.len() {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            let out = graph.edges.iter().enumerate();
            let mut out = out.filter(|(_, edge)| edge.from == node && edge.to != node);
            match out.nth(next) {
                None => state[node] = 2,
                Some((index, edge)) => {
                    stack.push((node, next + 1));
                    match state[edge.to] {
                        0 => {
                            state[edge.to] = 1;
                            stack.push((edge.to, 0));
                        }
                        1 => turned[index] = true,
                        _ => {}
                    }
                }
            }
        }
    }
    turned
}

/// Returns the layer of each node: below all that lead to it, and the end below all.
fn layers(graph: &FlowGraph, turned: &[bool]) -> Vec<usize> {
    let mut layers = vec![0; graph.nodes.len()];
    // Without edges that lead back, this comes to rest after so many rounds.
    for _ in 0..graph.nodes.len() {
        for (edge, turned) in graph.edges.iter().zip(turned) {
            let (from, to) = match turned {
                true => (edge.to, edge.from),
                false => (edge.from, edge.to),
            };
            if from != to {
                layers[to] = layers[to].max(layers[from] + 1);
            }
        }
    }
    let last = layers.iter().copied().max().unwrap_or(0);
    // The second node is the end.
    if let Some(end) = layers.get_mut(1) {
        *end = last.max(1);
    }
    layers
}

/// A point in a layer: a node, or the place where an edge passes.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    layer: usize,
    x: f64,
    width: f64,
    height: f64,
}

struct Grid {
    points: Vec<Point>,
    rows: Vec<Vec<usize>>,
    /// Neighbours in the layers beside, by point.
    beside: Vec<Vec<usize>>,
    /// The points of each edge from top to bottom.
    chains: Vec<Vec<usize>>,
}

impl Grid {
    fn new(graph: &FlowGraph, sizes: &[(f64, f64)], turned: &[bool], layers: &[usize]) -> Self {
        let mut points: Vec<Point> = layers
            .iter()
            .zip(sizes)
            .map(|(layer, (width, height))| Point {
                layer: *layer,
                x: 0.0,
                width: *width,
                height: *height,
            })
            .collect();
        let mut chains = Vec::new();
        for (edge, turned) in graph.edges.iter().zip(turned) {
            let (top, bottom) = match turned {
                true => (edge.to, edge.from),
                false => (edge.from, edge.to),
            };
            let mut chain = vec![top];
            for layer in layers[top] + 1..layers[bottom] {
                chain.push(points.len());
                points.push(Point {
                    layer,
                    width: PASSAGE,
                    ..Point::default()
                });
            }
            chain.push(bottom);
            chains.push(chain);
        }
        let mut rows = vec![Vec::new(); layers.iter().max().map_or(1, |last| last + 1)];
        let mut beside = vec![Vec::new(); points.len()];
        for (index, point) in points.iter().enumerate() {
            rows[point.layer].push(index);
        }
        for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
            if pair[0] != pair[1] {
                beside[pair[0]].push(pair[1]);
                beside[pair[1]].push(pair[0]);
            }
        }
        Self {
            points,
            rows,
            beside,
            chains,
        }
    }

    /// Sorts each layer by the middle of the neighbours above, then below, a few times.
    fn order(&mut self) {
        self.spread();
        for round in 0..12 {
            let count = self.rows.len();
            for index in 0..count {
                let (index, is_downwards) = match round % 2 {
                    0 => (index, true),
                    _ => (count - 1 - index, false),
                };
                let mut row = std::mem::take(&mut self.rows[index]);
                let wanted = |point: &usize| self.wanted(*point, is_downwards);
                row.sort_by(|a, b| wanted(a).total_cmp(&wanted(b)));
                self.rows[index] = row;
                self.spread_row(index);
            }
        }
    }

    fn wanted(&self, point: usize, is_downwards: bool) -> f64 {
        let layer = self.points[point].layer;
        let neighbours: Vec<f64> = self.beside[point]
            .iter()
            .map(|other| &self.points[*other])
            .filter(|other| (other.layer < layer) == is_downwards)
            .map(|other| other.x)
            .collect();
        match neighbours.is_empty() {
            true => self.points[point].x,
            false => neighbours.iter().sum::<f64>() / neighbours.len() as f64,
        }
    }

    fn spread(&mut self) {
        for index in 0..self.rows.len() {
            self.spread_row(index);
        }
    }

    /// Puts the points of a layer side by side, around the middle.
    fn spread_row(&mut self, index: usize) {
        let row = &self.rows[index];
        let widths = row.iter().map(|point| self.points[*point].width);
        let gaps = BETWEEN_NODES * row.len().saturating_sub(1) as f64;
        let mut x = -(widths.sum::<f64>() + gaps) / 2.0;
        for point in row {
            let point = &mut self.points[*point];
            point.x = x + point.width / 2.0;
            x += point.width + BETWEEN_NODES;
        }
    }

    fn place(&self, graph: &FlowGraph, turned: &[bool]) -> Layout {
        let left = self.points.iter().map(|point| point.x - point.width / 2.0);
        let left = left.fold(0.0, f64::min);
        let right = self.points.iter().map(|point| point.x + point.width / 2.0);
        let right = right.fold(0.0, f64::max);
        let mut middles = Vec::new();
        let mut y = MARGIN;
        for row in &self.rows {
            let heights = row.iter().map(|point| self.points[*point].height);
            let height = heights.fold(0.0, f64::max);
            middles.push(y + height / 2.0);
            y += height + BETWEEN_LAYERS;
        }
        let at = |point: usize| {
            let point = &self.points[point];
            (point.x - left + MARGIN, middles[point.layer])
        };
        let boxes = (0..graph.nodes.len())
            .map(|node| {
                let (x, y) = at(node);
                let Point { width, height, .. } = self.points[node];
                Box2 {
                    x,
                    y,
                    width,
                    height,
                }
            })
            .collect();
        let lines = graph.edges.iter().zip(turned).zip(&self.chains);
        let lines = lines
            .map(|((edge, turned), chain)| {
                if edge.from == edge.to {
                    return Vec::new();
                }
                let mut line: Vec<(f64, f64)> = chain.iter().map(|point| at(*point)).collect();
                self.attach(&mut line, chain, edge.line, *turned);
                if *turned {
                    line.reverse();
                }
                line
            })
            .collect();
        // A loop at the right of a node and its label need room.
        let has_loop = graph.edges.iter().any(|edge| edge.from == edge.to);
        Layout {
            width: right - left + 2.0 * MARGIN + if has_loop { 96.0 } else { 0.0 },
            height: y - BETWEEN_LAYERS + MARGIN,
            boxes,
            lines,
        }
    }

    /// Lets a line begin and end at the rims of its nodes, each kind of line a little aside of the others.
    fn attach(&self, line: &mut [(f64, f64)], chain: &[usize], kind: Line, leads_back: bool) {
        let aside = match (kind, leads_back) {
            (Line::Solid, false) => 0.0,
            (Line::Dashed, false) => 14.0,
            (Line::Dotted, _) => -14.0,
            (Line::Solid, true) => -22.0,
            (Line::Dashed, true) => 34.0,
        };
        let last = line.len() - 1;
        if let (Some(top), Some(bottom)) = (chain.first(), chain.last()) {
            line[0].0 += aside;
            line[0].1 += self.points[*top].height / 2.0;
            line[last].0 += aside;
            line[last].1 -= self.points[*bottom].height / 2.0;
        }
    }
}
