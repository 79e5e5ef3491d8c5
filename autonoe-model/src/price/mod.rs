//! Prices of tokens, as data.

mod priced_backend;
mod table;

pub use priced_backend::{PricedBackend, TokenCounts};
pub use table::{LongPrompt, Price, PriceTable};
