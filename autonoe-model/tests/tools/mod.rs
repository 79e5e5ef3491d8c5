//! The built-in tools, called as an agent calls them. Those with commands need bubblewrap,
//! and fail without it.

#![cfg(target_os = "linux")]

mod bash;
mod definitions;
mod editing;
mod killed_hosts;
mod leaving;
mod options;
mod reading;
mod repository;
mod searching;
mod sessions;
mod swapping;
mod writing;
mod yard;
