//! Links and anchors of a Markdown page.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A page with its links and anchors.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    links: Vec<Link>,
    anchors: BTreeSet<String>,
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Position of the target in the text.
    range: Range<usize>,
    pub(super) target: String,
}

impl Page {
    pub(super) fn parse(text: String) -> Self {
        let parser = Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES);
        let mut links: Vec<_> = parser
            .reference_definitions()
            .iter()
            .filter_map(|(_, definition)| Link::find(&text, &definition.span, &definition.dest))
            .collect();
        let mut anchors = Anchors::default();
        let mut heading: Option<String> = None;
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(
                    Tag::Link {
                        link_type,
                        dest_url,
                        ..
                    }
                    | Tag::Image {
                        link_type,
                        dest_url,
                        ..
                    },
                ) if link_type == LinkType::Inline => {
                    links.extend(Link::find(&text, &range, &dest_url));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    if let Some(title) = heading.take() {
                        anchors.add(&title);
                    }
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(title) = &mut heading {
                        title.push_str(&part);
                    }
                }
                _ => {}
            }
        }
        links.sort_by_key(|link| link.range.start);
        Self {
            links,
            anchors: anchors.names,
            text,
        }
    }

    /// Returns the links in the order of the text.
    pub(super) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Says whether `#anchor` leads to a heading.
    pub(super) fn has_anchor(&self, anchor: &str) -> bool {
        self.anchors.contains(anchor)
    }

    /// Returns the line of a link, from 1.
    pub(super) fn line(&self, link: &Link) -> usize {
        let before = self.text.get(..link.range.start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    /// Returns the text with other targets of links, where `change` returns one.
    pub(super) fn rewrite(&self, change: impl Fn(&str) -> Option<String>) -> String {
        let mut text = self.text.clone();
        // From the end, so that the places of earlier links stay correct.
        for link in self.links.iter().rev() {
            if let Some(target) = change(&link.target) {
                text.replace_range(link.range.clone(), &target);
            }
        }
        text
    }
}

impl Link {
    /// Finds the target in the source of its link, at the end of which it is.
    fn find(text: &str, link: &Range<usize>, target: &str) -> Option<Self> {
        let source = text.get(link.clone())?;
        let start = link.start + source.rfind(target)?;
        Some(Self {
            range: start..start + target.len(),
            target: target.to_owned(),
        })
    }
}

/// Anchors of headings, as GitHub and mdBook make them.
#[derive(Debug, Default)]
struct Anchors {
    names: BTreeSet<String>,
    /// Number of occurrences of each title.
    counts: BTreeMap<String, usize>,
}

impl Anchors {
    fn add(&mut self, title: &str) {
        let name: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then_some(letter),
            })
            .collect();
        let count = self.counts.entry(name.clone()).or_default();
        self.names.insert(match *count {
            0 => name,
            repeated => format!("{name}-{repeated}"),
        });
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# `autonoe run`, and more

See [the *other* page](other.md#a_b) and [a site](https://example.com).
| a | b |
| --- | --- |
| [cell](cell.md) | ![picture](pictures/a.svg \"title\") |

```text
[no link](code.md)
```

## More

## More

A [reference][ref].

[ref]: ../reference.md
";

    #[test]
    fn links_are_found_with_their_lines() {
        let page = Page::parse(TEXT.to_owned());

        let links = page.links().iter();
        let links: Vec<_> = links
            .map(|it| (page.line(it), it.target.as_str()))
            .collect();

        assert_eq!(
            links,
            [
                (3, "other.md#a_b"),
                (3, "https://example.com"),
                (6, "cell.md"),
                (6, "pictures/a.svg"),
                (18, "../reference.md"),
            ]
        );
    }

    #[test]
    fn headings_have_anchors() {
        let page = Page::parse(TEXT.to_owned());

        for anchor in ["autonoe-run-and-more", "more", "more-1"] {
            assert!(page.has_anchor(anchor), "{anchor}");
        }
        assert!(!page.has_anchor("more-2"));
    }

    #[test]
    fn only_targets_of_links_are_rewritten() {
        let text = "[other.md](other.md), [b](b.md) and `other.md`\n".to_owned();

        let rewritten = Page::parse(text)
            .rewrite(|target| (target == "other.md").then(|| "https://example.com/o".to_owned()));

        assert_eq!(
            rewritten,
            "[other.md](https://example.com/o), [b](b.md) and `other.md`\n"
        );
    }
}
