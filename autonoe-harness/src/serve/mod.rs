//! Serves the folder of a member: runs its order, and handles requests in the folder.

mod member_server;
mod served_folder;

pub use member_server::MemberServer;
pub use served_folder::ServeOutcome;
