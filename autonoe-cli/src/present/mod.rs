//! Output of runs, flows and fleets for the operator and for other programs.

mod answer_cost;
mod debug_lines;
mod denial_summary;
mod fleet_lines;
mod flow_lines;
mod json_lines;
mod keyboard;
mod line_formatter;
mod logging;
mod presenter;
#[cfg(test)]
mod readme;
mod screen;

pub(crate) use answer_cost::{cost, cost_line};
pub(crate) use denial_summary::{DeniedCall, denial_summary, group_by_remedy};
pub(crate) use fleet_lines::FleetLines;
pub(crate) use flow_lines::FlowLines;
pub(crate) use json_lines::JsonLines;
pub(crate) use keyboard::QuietKeyboard;
pub(crate) use line_formatter::LineFormatter;
pub(crate) use logging::{start_log_file, start_logging, start_span_export};
pub(crate) use presenter::{Detail, Presenter};
pub(crate) use screen::Screen;
