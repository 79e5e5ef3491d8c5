//! What a run came to, in two lines.

use autonoe_core::RunReport;

use super::harmless_line;

/// Writes why a run ended and how far it got, on a line each.
///
/// Why it ended may be told in words of others, over several lines that look like ours: they
/// are put on one.
pub(crate) fn summary(report: &RunReport) -> [String; 2] {
    let shown = report.to_string();
    let (why, counts) = shown.rsplit_once('\n').unwrap_or((&shown, ""));
    [harmless_line(why.trim_end()), counts.to_owned()]
}
