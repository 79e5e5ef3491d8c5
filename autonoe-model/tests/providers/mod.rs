//! Tests of providers over real connections: requests, answers and failures.

mod anthropic;
mod anthropic_failures;
mod connection;
mod counting;
mod encryption;
mod faults;
mod gemini;
mod odd_calls;
mod proxy;
mod raw_server;
mod specs;
mod support;
mod timeouts;
mod tls_front;
