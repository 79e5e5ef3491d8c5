//! `autonoe report`: the page itself, what may stand in it, and how a real browser shows it.

mod chromium;
mod command;
mod html;
mod in_chromium;
mod sample;
mod scale;
