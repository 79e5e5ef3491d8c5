//! Events of a run, observers, spans and trace contexts, and the values that only events and errors
//! carry.
//!
//! Every module emits events, and events carry values of every module. Every module may therefore
//! depend on this one.

mod answer_text;
mod failure;
pub(crate) mod heartbeat;
mod instruction_name;
mod invalid_value;
mod observer;
mod run_event;
mod span;
mod trace_context;
pub(crate) mod unfinished_events;

pub use answer_text::AnswerText;
pub use failure::{Failure, Retry};
pub(crate) use heartbeat::Heartbeat;
pub use instruction_name::{CustomInstruction, InstructionName, Phase};
pub use invalid_value::InvalidValue;
pub use observer::{CallCosts, Events, RunObserver};
pub use run_event::{Delivery, RunEvent, RunEventKind, WaitReason};
pub use span::{InvalidSpanId, SpanContext, SpanId, TraceId};
pub use trace_context::{InvalidTraceContext, TraceContext};
