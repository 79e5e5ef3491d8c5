//! Configuration file: valid and invalid content, and its effect.

mod apply;
mod backend;
mod bad_files;
mod bad_values;
mod explain;
mod guards;
mod hostile_config;
mod merge_bash;
mod merge_example;
mod merge_servers;
mod merge_table;
mod properties;
mod schema;
mod support;
