//! Integration tests of `autonoe-testkit`.

mod cassettes;
mod chaos;
mod conformance;
mod fake_claude;
mod model_server;
mod projects;
mod scripts;
