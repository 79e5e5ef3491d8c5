//! Tests of OpenAI and OpenAI-compatible services, with a scripted server.

mod answers;
mod failures;
mod fixture;
mod specs;
