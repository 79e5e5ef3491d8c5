//! The five deliverable tools.

pub(crate) mod commands;
pub(crate) mod list;

use std::sync::Arc;

use crate::event::InstructionName;
use crate::ledger::LedgerStore;
use crate::ledger::tools::commands::{Create, Deprecate, SetStatus, Verify};
use crate::ledger::tools::list::{List, VerifyList};
use crate::tool::{Tool, TypedTool};

/// Names of all deliverable tools. No other tool of a run may use them.
pub(crate) const DELIVERABLE_TOOLS: [&str; 5] =
    ["create", "set_status", "deprecate", "verify", "list"];

/// Returns the tools of a session with `instruction`, backed by the ledger in `store`.
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
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::ledger::{LedgerStore, MemoryRepository, deliverable_tools};
/// use autonoe_core::time::{Epoch, SessionKey, SystemClock};
/// use autonoe_core::tool::Toolbox;
/// use autonoe_core::{RunId, ToolContext};
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// let store = LedgerStore::new(MemoryRepository::new(), SystemClock, Epoch(1));
/// let toolbox = Toolbox::new(deliverable_tools(&store, &InstructionName::Initializer));
/// let context = ToolContext::new(SessionKey { run: RunId::new("run"), number: 1 });
///
/// let plan = json!({"deliverables": [
///     {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
/// ]});
/// toolbox.call("create", plan, context).await?;
///
/// assert_eq!(store.read().await?.map(|state| state.ledger.counts().total), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
pub fn deliverable_tools(store: &LedgerStore, instruction: &InstructionName) -> Vec<Arc<dyn Tool>> {
    let store = || store.clone();
    match instruction {
        InstructionName::Initializer => vec![Create(store()).into_tool()],
        InstructionName::Coding => {
            vec![SetStatus(store()).into_tool(), List(store()).into_tool()]
        }
        InstructionName::Sync => vec![
            Create(store()).into_tool(),
            Deprecate(store()).into_tool(),
            List(store()).into_tool(),
        ],
        InstructionName::Verify => vec![
            SetStatus(store()).into_tool(),
            Verify(store()).into_tool(),
            VerifyList(store()).into_tool(),
        ],
        InstructionName::Custom(_) => Vec::new(),
    }
}
