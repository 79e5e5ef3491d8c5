//! Tests of tasks on scripted agents, and of criteria on real files and commands.

mod agents;
mod criteria;
mod executor_set;
mod fixture;
mod judges;
mod limits;
mod schemas;
