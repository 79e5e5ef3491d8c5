//! Tests of `autonoe report`: its output, untrusted text, and the rendering in a real browser.

mod command;
mod html;
mod in_chromium;
mod sample;
mod scale;
