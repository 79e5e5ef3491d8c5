//! Tests of the page of a fleet in a real Chromium.

mod browser;
