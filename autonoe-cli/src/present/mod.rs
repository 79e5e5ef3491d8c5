//! Output of runs, flows and fleets for the operator and for other programs.

mod debug_lines;
mod denial_summary;
mod fleet_lines;
mod json_lines;
mod logging;
mod presenter;
#[cfg(test)]
mod readme;
mod screen;

pub(crate) use denial_summary::{DeniedCall, denial_summary, group_by, group_by_remedy};
pub(crate) use fleet_lines::FleetLines;
pub(crate) use json_lines::JsonLines;
pub(crate) use logging::{start_log_file, start_logging, start_span_export};
pub(crate) use presenter::{Detail, FlowLines, Presenter};
pub(crate) use screen::{QuietKeyboard, Screen};
