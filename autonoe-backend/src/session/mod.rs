//! Session of a program: its client, and the task that owns the program.

mod answers;
mod client;
mod program;
mod transport;
mod turn;

pub use answers::{AnswerTasks, DeniedCall, FAILED_CHECK, decide_call, spawn_answer};
pub use client::ProgramClient;
pub use program::Program;
use program::{AfterQuery, CommandQueue, ProgramCommand, Query};
pub use transport::{PendingRequests, line_writer, ready_within, shutdown_program, wait_for_exit};
pub use turn::{ProgramTurn, TurnEnd, TurnStep};
