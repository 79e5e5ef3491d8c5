//! A flow as a picture.

use std::fmt::Write;

use super::layout::{Box2, Layout, layout};
use super::model::{FlowGraph, Line, Node, Shape};

const STYLE: &str = "\
.node{fill:#fff;stroke:#334155;stroke-width:1.5}\
.terminal{fill:#334155}\
.gateway{fill:#fef9c3}\
.sub{stroke-dasharray:2 2}\
.missing{fill:#fee2e2;stroke:#b91c1c}\
.line{fill:none;stroke:#64748b;stroke-width:1.5}\
.dashed{stroke-dasharray:6 4}\
.dotted{stroke-dasharray:2 4}\
text{font:13px system-ui,sans-serif;fill:#0f172a;text-anchor:middle}\
.light{fill:#f8fafc}\
.small{font-size:11px;fill:#475569}\
.label{font-size:11px;fill:#475569;paint-order:stroke;stroke:#f8fafc;stroke-width:4px}\
.back{fill:#f8fafc}";

/// The width of a character, about, and the height of a line.
const CHARACTER: f64 = 7.6;
const LINE: f64 = 17.0;
/// So many characters of a text are drawn; all of it is in its title.
const LONGEST: usize = 36;

impl FlowGraph {
    /// Returns the graph as an SVG picture, which needs nothing else to be drawn.
    pub fn to_svg(&self) -> String {
        let sizes: Vec<(f64, f64)> = self.nodes.iter().map(size).collect();
        let layout = layout(self, &sizes);
        let (width, height) = (number(layout.width), number(layout.height));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>The steps of the flow</title>\n<style>{STYLE}</style>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\" fill=\"#64748b\"/></marker></defs>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n"
        );
        self.lines(&mut svg, &layout);
        for (node, place) in self.nodes.iter().zip(&layout.boxes) {
            draw_node(&mut svg, node, place);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn lines(&self, svg: &mut String, layout: &Layout) {
        let mut labels = String::new();
        for (edge, points) in self.edges.iter().zip(&layout.lines) {
            let class = match edge.line {
                Line::Solid => "line",
                Line::Dashed => "line dashed",
                Line::Dotted => "line dotted",
            };
            let (path, middle) = match points.as_slice() {
                [] => own_loop(&layout.boxes[edge.from]),
                points => (curve(points), middle(points)),
            };
            let _ = writeln!(
                svg,
                "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#arrow)\"/>"
            );
            if !edge.label.is_empty() {
                let (x, y) = (number(middle.0), number(middle.1));
                let label = escaped(&shortened(&edge.label));
                let title = escaped(&edge.label);
                let _ = writeln!(
                    labels,
                    "<text class=\"label\" x=\"{x}\" y=\"{y}\"><title>{title}</title>{label}</text>"
                );
            }
        }
        // Above all lines, so that none goes through a label.
        svg.push_str(&labels);
    }
}

fn size(node: &Node) -> (f64, f64) {
    let longest = node
        .lines
        .iter()
        .map(|line| shortened(line).chars().count());
    let width = longest.max().unwrap_or(0) as f64 * CHARACTER + 28.0;
    let height = node.lines.len() as f64 * LINE + 18.0;
    match node.shape {
        Shape::Start | Shape::End => (width.max(64.0), 32.0),
        // A rhombus has less room inside.
        Shape::Gateway => ((width * 1.4).max(96.0), height * 1.7),
        Shape::Normal | Shape::SubStep | Shape::Missing => (width.max(96.0), height),
    }
}

fn draw_node(svg: &mut String, node: &Node, place: &Box2) {
    let Box2 {
        x,
        y,
        width,
        height,
    } = *place;
    let (left, top) = (number(x - width / 2.0), number(y - height / 2.0));
    let (w, h) = (number(width), number(height));
    let _ = match node.shape {
        Shape::Start | Shape::End => write!(
            svg,
            "<g><rect class=\"node terminal\" x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" rx=\"16\"/>"
        ),
        Shape::Gateway => write!(
            svg,
            "<g><path class=\"node gateway\" d=\"M{} {}L{} {}L{} {}L{} {}z\"/>",
            number(x),
            top,
            number(x + width / 2.0),
            number(y),
            number(x),
            number(y + height / 2.0),
            left,
            number(y)
        ),
        Shape::Normal | Shape::SubStep | Shape::Missing => {
            let class = match node.shape {
                Shape::SubStep => "node sub",
                Shape::Missing => "node missing",
                _ => "node",
            };
            write!(
                svg,
                "<g><rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" rx=\"6\"/>"
            )
        }
    };
    let _ = write!(svg, "<title>{}</title>", escaped(&node.lines.join(", ")));
    let first = y - (node.lines.len() as f64 - 1.0) * LINE / 2.0 + 4.5;
    for (index, line) in node.lines.iter().enumerate() {
        let class = match (node.shape, index) {
            (Shape::Start | Shape::End, _) => " class=\"light\"",
            (_, 0) => "",
            _ => " class=\"small\"",
        };
        let (x, y) = (number(x), number(first + index as f64 * LINE));
        let line = escaped(&shortened(line));
        let _ = write!(svg, "<text{class} x=\"{x}\" y=\"{y}\">{line}</text>");
    }
    svg.push_str("</g>\n");
}

/// Returns a curve through the points that leaves and arrives upright.
fn curve(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    if let Some((x, y)) = points.first() {
        let _ = write!(path, "M{} {}", number(*x), number(*y));
    }
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        let half = number(f64::midpoint(y1, y2));
        let _ = write!(
            path,
            "C{} {half} {} {half} {} {}",
            number(x1),
            number(x2),
            number(x2),
            number(y2)
        );
    }
    path
}

/// Returns where the label of a line stands: in the middle of its middle part.
fn middle(points: &[(f64, f64)]) -> (f64, f64) {
    let at = (points.len() - 1) / 2;
    let ((x1, y1), (x2, y2)) = (points[at], points[at + 1]);
    (f64::midpoint(x1, x2), f64::midpoint(y1, y2) + 4.0)
}

/// Returns a loop at the right of a node, and where its label stands.
fn own_loop(place: &Box2) -> (String, (f64, f64)) {
    let (x, y) = (place.x + place.width / 2.0, place.y);
    let path = format!(
        "M{} {}C{} {} {} {} {} {}",
        number(x),
        number(y - 8.0),
        number(x + 40.0),
        number(y - 24.0),
        number(x + 40.0),
        number(y + 24.0),
        number(x),
        number(y + 8.0)
    );
    (path, (x + 48.0, y + 4.0))
}

/// Writes a number with at most one digit behind the point, the same on every machine.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
