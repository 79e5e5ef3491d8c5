//! Tests of the built-in tools, called like an agent does. Those with commands require bubblewrap.

#![cfg(target_os = "linux")]

mod bash;
mod definitions;
mod edit;
mod escapes;
mod fixture;
mod killed_hosts;
mod link_races;
mod options;
mod read;
mod repository;
mod search;
mod sessions;
mod write;
