//! What tokens cost, as data.

mod priced_agents;
mod table;

pub use priced_agents::{PricedAgents, TokenCounts};
pub use table::{LongPrompt, Price, PriceTable};
