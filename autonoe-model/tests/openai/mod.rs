//! OpenAI and services that speak as it does, over a connection to a scripted server.

mod answers;
mod failures;
mod setting;
mod specs;
