//! Tasks on scripted agents, and criteria on real files and commands.

mod agents;
mod criteria;
mod judges;
mod limits;
mod schemas;
mod sets;
mod setting;
