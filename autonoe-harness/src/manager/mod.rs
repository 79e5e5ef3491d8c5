//! Processes of members: a manager that starts and finds them, and their supervisors.

mod member_command;
mod member_manager;
mod supervisor;

pub use member_command::{MemberCommand, MemberLifetime};
pub use member_manager::{FoundMember, MemberManager};
