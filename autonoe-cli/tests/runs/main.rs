//! Runs through the command: in a real terminal and in a pipe, on scripted agents.

mod decisions;
mod options;
mod pipe;
mod support;
mod terminal;
