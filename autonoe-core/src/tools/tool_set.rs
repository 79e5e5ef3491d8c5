//! Which tools go with which instruction.

use std::sync::Arc;

use super::LedgerBook;
use super::create::Create;
use super::deprecate::Deprecate;
use super::list::{List, VerifyList};
use super::set_status::SetStatus;
use super::verify::Verify;
use crate::domain::InstructionName;
use crate::port::{Tool, TypedTool};

/// The names of all deliverable tools, which no other tool of a run may have.
pub(crate) const DELIVERABLE_TOOLS: [&str; 5] =
    ["create", "set_status", "deprecate", "verify", "list"];

/// Returns the tools of a session with `instruction`, over the ledger in `book`.
///
/// | instruction | tools |
/// | --- | --- |
/// | initializer | create |
/// | coding | `set_status`, list |
/// | sync | create, deprecate, list |
/// | verify | `set_status`, verify, list (with `filter.verified`) |
/// | any other | none |
///
/// ```
/// use autonoe_core::{
///     Epoch, InstructionName, LedgerBook, MemoryRepository, RunId, SessionKey, SystemClock,
///     ToolContext, Toolbox, deliverable_tools,
/// };
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// let book = LedgerBook::new(MemoryRepository::new(), SystemClock, Epoch(1));
/// let toolbox = Toolbox::new(deliverable_tools(&book, &InstructionName::Initializer));
/// let context = ToolContext::new(SessionKey { run: RunId::new("run"), number: 1 });
///
/// let plan = json!({"deliverables": [
///     {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
/// ]});
/// toolbox.call("create", plan, context).await?;
///
/// assert_eq!(book.read().await?.map(|state| state.ledger.counts().total), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
pub fn deliverable_tools(book: &LedgerBook, instruction: &InstructionName) -> Vec<Arc<dyn Tool>> {
    let book = || book.clone();
    match instruction {
        InstructionName::Initializer => vec![Create(book()).into_tool()],
        InstructionName::Coding => {
            vec![SetStatus(book()).into_tool(), List(book()).into_tool()]
        }
        InstructionName::Sync => vec![
            Create(book()).into_tool(),
            Deprecate(book()).into_tool(),
            List(book()).into_tool(),
        ],
        InstructionName::Verify => vec![
            SetStatus(book()).into_tool(),
            Verify(book()).into_tool(),
            VerifyList(book()).into_tool(),
        ],
        InstructionName::Custom(_) => Vec::new(),
    }
}
