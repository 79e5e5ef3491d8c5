//! Events of a run, observers, spans and trace contexts, and the values that only events and errors
//! carry.
//!
//! Every module emits events, and events carry values of every module. Every module may therefore
//! depend on this one.

mod answer_text;
mod failure;
mod instruction_name;
mod observer;
mod run_event;
pub(crate) mod session_activity;
mod span;
mod trace_context;

pub use answer_text::AnswerText;
pub use failure::{Failure, InvalidValue, Retry};
pub use instruction_name::{CustomInstruction, InstructionName, Phase};
pub use observer::{CallCosts, Events, RunObserver};
pub use run_event::{Delivery, RunEvent, RunEventKind, WaitReason};
pub(crate) use session_activity::Heartbeat;
pub use span::{InvalidSpanId, SpanContext, SpanId, TraceId};
pub use trace_context::{InvalidTraceContext, TraceContext};
