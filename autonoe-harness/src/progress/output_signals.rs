//! Progress signals in the output of an agent: differences, markers and check lists.

use std::time::{Duration, Instant};

use similar::TextDiff;

/// Number of bytes of an output that are compared: its end, which is the newest part.
const COMPARED: usize = 64 * 1024;

/// Time limit of a comparison. The result by then counts.
const COMPARISON: Duration = Duration::from_millis(200);

/// Returns the difference between two outputs, word by word: 0 is the same, 1 is entirely
/// different.
pub(super) fn difference(before: &str, now: &str) -> f64 {
    difference_until(before, now, Some(Instant::now() + COMPARISON))
}

/// Returns the result of a comparison by the `deadline`, or the complete result if there is none.
fn difference_until(before: &str, now: &str, deadline: Option<Instant>) -> f64 {
    if before == now {
        return 0.0;
    }
    // Blanks are not words: all texts have them in common.
    let words = |text| Vec::from_iter(end_of(text).split_whitespace());
    let (before, now) = (words(before), words(now));
    let mut comparison = TextDiff::configure();
    if let Some(deadline) = deadline {
        comparison.deadline(deadline);
    }
    1.0 - f64::from(comparison.diff_slices(&before, &now).ratio())
}

/// Returns the texts between `<progress>` and `</progress>`.
pub(super) fn markers(output: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = output;
    while let Some((_, behind)) = rest.split_once("<progress>")
        && let Some((marker, behind)) = behind.split_once("</progress>")
    {
        let marker = marker.trim();
        // An empty marker, or a repetition in the same output, is no progress.
        if !marker.is_empty() && !found.iter().any(|known| known == marker) {
            found.push(marker.to_owned());
        }
        rest = behind;
    }
    found
}

/// Returns the share of completed items in the check list of an output; 0 if there is none.
pub(super) fn checklist(output: &str) -> f64 {
    let (mut done, mut open) = (0u32, 0u32);
    for line in output.lines() {
        let line = line.trim_start();
        let Some(item) = ["- ", "* ", "+ "]
            .iter()
            .find_map(|bullet| line.strip_prefix(bullet))
        else {
            continue;
        };
        match item.get(..3) {
            Some("[x]" | "[X]") => done += 1,
            Some("[ ]") => open += 1,
            _ => {}
        }
    }
    match done + open {
        0 => 0.0,
        all => f64::from(done) / f64::from(all),
    }
}

fn end_of(text: &str) -> &str {
    let start = text.len().saturating_sub(COMPARED);
    &text[text.ceil_char_boundary(start)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_differ_by_their_words() {
        for (before, now, least, most) in [
            ("", "", 0.0, 0.0),
            ("the same words", "the same words", 0.0, 0.0),
            ("", "anything", 1.0, 1.0),
            ("one two three four", "one two three five", 0.05, 0.4),
            ("alpha beta", "gamma delta", 1.0, 1.0),
            ("alpha  beta\n", " alpha beta", 0.0, 0.0),
        ] {
            let found = difference(before, now);
            assert!(
                (least..=most).contains(&found),
                "{before:?} {now:?}: {found}"
            );
        }
    }

    // Shows: fleets/progress/output-diff
    #[test]
    fn large_outputs_are_compared_at_their_end() {
        let end = "ä word ".repeat(COMPARED);
        let (before, now) = (format!("old {end}"), format!("new {end}"));
        assert_eq!(difference_until(&before, &now, None), 0.0);

        let now = format!("{before} and more");
        let found = difference_until(&before, &now, None);
        assert!(0.0 < found && found < 0.2, "{found}");
    }

    // Shows: fleets/progress/output-diff
    #[test]
    fn a_comparison_ends_at_its_deadline() {
        let words = |from: usize| Vec::from_iter((from..from + 8_000).map(|n| n.to_string()));
        let (before, now) = (words(0).join(" "), words(4_000).join(" "));
        let complete = difference_until(&before, &now, None);

        let found = difference_until(&before, &now, Some(Instant::now()));

        assert!(found > complete, "{found} {complete}");
    }

    // Shows: fleets/progress/markers
    #[test]
    fn markers_are_the_texts_between_the_tags_each_once() {
        let output = "<progress> a </progress> x <progress>b</progress><progress></progress>\
                      <progress>a</progress> <progress>not closed";

        assert_eq!(markers(output), ["a", "b"]);
    }
}
