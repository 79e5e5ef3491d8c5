//! Formatting of runs and journals for people.

mod activity;
mod decision_formatter;
mod entry_formatter;
mod flow_formatter;
mod lines;
mod sanitize;
mod summary;
mod wait_text;

pub use activity::Activity;
pub use decision_formatter::{DecisionFormatter, prompt_sent};
pub use entry_formatter::EntryFormatter;
pub use flow_formatter::{FlowMismatch, FlowReplay, flows_dir, format_flow_end};
pub use lines::{LEDGER_EDITED, Level, Line, lines, no_progress, pluralize, session_level};
pub use sanitize::{sanitize_line, shorten};
pub use summary::{exit_hint, failure_hint, report_text, summary};
pub use wait_text::{announcement as wait_announcement, countdown as wait_countdown};
