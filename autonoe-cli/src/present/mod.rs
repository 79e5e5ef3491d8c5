//! What people and programs see of a run.

mod activity;
mod answer;
mod debug_lines;
mod denial_summary;
mod fleet_lines;
mod flow_lines;
mod flow_words;
mod harmless;
mod json_lines;
mod keyboard;
mod line_teller;
mod lines;
mod logging;
mod presenter;
#[cfg(test)]
mod readme;
mod screen;
mod shorten;
mod summary;
mod waiting;

pub(crate) use answer::{AnswerOutput, AnswerStream, cost, cost_line};
pub(crate) use denial_summary::{DeniedCall, denial_summary, group_by_remedy};
pub(crate) use fleet_lines::FleetLines;
pub(crate) use flow_lines::FlowLines;
pub(crate) use flow_words::{FlowWords, prompt_sent};
pub(crate) use harmless::{harmless, harmless_line};
pub(crate) use json_lines::JsonLines;
pub(crate) use keyboard::QuietKeyboard;
pub(crate) use line_teller::LineTeller;
pub(crate) use lines::{LEDGER_EDITED, no_progress};
pub(crate) use logging::{start_log_file, start_logging, start_span_export};
pub(crate) use presenter::{Detail, Presenter};
pub(crate) use screen::Screen;
pub(crate) use shorten::shorten;
pub(crate) use summary::summary;
pub(crate) use waiting::announcement as wait_announcement;
