//! Splits a roadmap into sections and lines, without interpreting them.

use autonoe_core::project::suggest;

/// The sections of a roadmap.
pub(super) const SECTIONS: [&str; 4] = ["Objective", "Constraints", "Success Criteria", "Tasks"];

/// A roadmap, split into sections.
#[derive(Debug, Default)]
pub(super) struct Outline<'a> {
    pub(super) title: Option<String>,
    pub(super) sections: Vec<Section<'a>>,
    /// The number of lines of the file.
    pub(super) lines: usize,
}

/// The lines below a heading.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pub(super) name: String,
    /// The line of the heading.
    pub(super) line: usize,
    pub(super) lines: Vec<Line<'a>>,
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// Whether it is part of a code block, including its fences.
    pub(super) is_code: bool,
}

impl<'a> Line<'a> {
    /// Returns the column at which `part`, a slice of this line, starts.
    pub(super) fn column_of(&self, part: &str) -> usize {
        let start = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        let before = self.text.get(..start).unwrap_or_default();
        before.chars().count() + 1
    }

    pub(super) fn is_indented(&self) -> bool {
        self.text.starts_with([' ', '\t'])
    }

    /// Returns the text behind the bullet of a list item, if it is one.
    pub(super) fn item(&self) -> Option<&'a str> {
        let text = self.text.trim_start();
        let item = text.strip_prefix(['-', '*', '+'])?;
        item.starts_with([' ', '\t']).then(|| item.trim())
    }

    /// Returns whether the line is a heading of the third level, which starts a phase of tasks.
    pub(super) fn is_phase_heading(&self) -> bool {
        !self.is_code && matches!(heading_of(self.text), Some((3, _)))
    }
}

impl<'a> Outline<'a> {
    pub(super) fn parse(text: &'a str, findings: &mut Vec<RoadmapFinding>) -> Self {
        let mut outline = Self::default();
        let mut fence: Option<&str> = None;
        for (number, text) in (1..).zip(text.lines()) {
            outline.lines = number;
            let marks = fence_of(text);
            let was_code = fence.is_some();
            match (fence, marks) {
                (None, Some(marks)) => fence = Some(marks),
                (Some(open), Some(marks)) if closes(open, marks, text) => fence = None,
                _ => {}
            }
            let is_code = was_code || marks.is_some();
            let line = Line {
                number,
                text,
                is_code,
            };
            if !is_code && let Some((level, heading)) = heading_of(text) {
                outline.begin(line, level, heading, findings);
            } else if let Some(section) = outline.sections.last_mut() {
                section.lines.push(line);
            }
        }
        outline
    }

    fn begin(
        &mut self,
        line: Line<'a>,
        level: usize,
        heading: &'a str,
        findings: &mut Vec<RoadmapFinding>,
    ) {
        match level {
            1 if self.title.is_none() && self.sections.is_empty() => {
                self.title = Some(heading.to_owned());
                return;
            }
            1 | 2 => {}
            // Deeper headings are part of the text.
            _ => {
                if let Some(section) = self.sections.last_mut() {
                    section.lines.push(line);
                }
                return;
            }
        }
        let known = SECTIONS
            .iter()
            .find(|name| name.eq_ignore_ascii_case(heading));
        let mut problem = None;
        match known {
            Some(name) if self.section(name).is_some() => {
                problem = Some(format!("the section {name:?} exists twice"));
            }
            Some(_) => {}
            None => {
                if let Some(near) = similar_section(heading) {
                    problem = Some(format!(
                        "unknown section {heading:?}; did you mean {near:?}?"
                    ));
                }
            }
        }
        let column = line.column_of(heading);
        findings.extend(problem.map(|message| RoadmapFinding::new(line.number, column, message)));
        self.sections.push(Section {
            name: known.map_or_else(|| heading.to_owned(), |name| (*name).to_owned()),
            line: line.number,
            lines: Vec::new(),
        });
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// Returns the section that an unknown heading probably means: one with a similar name, or one whose
/// name begins with a similar word, as in `Task List`.
fn similar_section(heading: &str) -> Option<&'static str> {
    suggest(heading, SECTIONS).or_else(|| {
        let word = suggest(first_word(heading), SECTIONS.map(first_word))?;
        SECTIONS.into_iter().find(|name| first_word(name) == word)
    })
}

fn first_word(text: &str) -> &str {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.next().unwrap_or_default()
}

fn heading_of(text: &str) -> Option<(usize, &str)> {
    let heading = text.trim_start_matches('#');
    let level = text.len() - heading.len();
    let is_heading = (1..=6).contains(&level) && heading.starts_with([' ', '\t']);
    is_heading.then(|| (level, heading.trim().trim_end_matches(['#', ':']).trim()))
}

/// Returns the marks of a code fence.
fn fence_of(text: &str) -> Option<&str> {
    let text = text.trim_start();
    ['`', '~'].into_iter().find_map(|mark| {
        let length = text.len() - text.trim_start_matches(mark).len();
        // A line such as ```code``` is not a fence.
        let is_fence = length >= 3 && !(mark == '`' && text[length..].contains('`'));
        is_fence.then(|| &text[..length])
    })
}

fn closes(open: &str, marks: &str, text: &str) -> bool {
    marks.starts_with(open) && text.trim() == marks
}

/// A mistake in a roadmap, with its position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RoadmapFinding {
    /// The line, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
    /// The problem, and a suggestion.
    pub message: String,
}

impl RoadmapFinding {
    pub(super) fn new(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            column,
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_code_are_no_headings() {
        let text = "## Objective\n```sh\n# a comment\n## Tasks\n```\nafter\n~~~~\n~~~\n## Tasks\n~~~~\n## Tasks\n";
        let mut findings = Vec::new();

        let outline = Outline::parse(text, &mut findings);

        let sections: Vec<_> = outline
            .sections
            .iter()
            .map(|s| (s.name.as_str(), s.line))
            .collect();
        assert_eq!(sections, [("Objective", 1), ("Tasks", 11)]);
        assert_eq!(findings, []);
    }

    #[test]
    fn a_heading_that_resembles_a_section_is_a_mistake() {
        for (heading, section) in [
            ("Objectives", Some("Objective")),
            ("Objective and scope", Some("Objective")),
            ("Constraint", Some("Constraints")),
            ("Constraints (technical)", Some("Constraints")),
            ("Success", Some("Success Criteria")),
            ("success criterion", Some("Success Criteria")),
            ("Success Conditions", Some("Success Criteria")),
            ("Success Metrics", Some("Success Criteria")),
            ("Task", Some("Tasks")),
            ("Task List", Some("Tasks")),
            ("Tasks, in order", Some("Tasks")),
            ("Context", None),
            ("Contents", None),
            ("Conclusion", None),
            ("Criteria", None),
            ("Completed tasks", None),
            ("Growth Mode", None),
            ("Object model", None),
            ("Risks", None),
            ("Tests", None),
            ("\u{2014}", None),
        ] {
            let mut findings = Vec::new();

            Outline::parse(&format!("## {heading}\n"), &mut findings);

            let message = |near| format!("unknown section {heading:?}; did you mean {near:?}?");
            let found: Vec<_> = findings.into_iter().map(|it| it.message).collect();
            assert_eq!(found, Vec::from_iter(section.map(message)), "{heading}");
        }
    }

    #[test]
    fn a_misspelled_heading_is_a_mistake() {
        let mut findings = Vec::new();

        Outline::parse(
            "# T\n## Tassk\n## Background\n## tasks:\n## TASKS\n",
            &mut findings,
        );

        let found: Vec<_> = findings
            .iter()
            .map(|f| (f.line, f.message.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (2, "unknown section \"Tassk\"; did you mean \"Tasks\"?"),
                (5, "the section \"Tasks\" exists twice"),
            ]
        );
    }
}
