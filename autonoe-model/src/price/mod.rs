//! What tokens cost, as data.

mod table;

pub use table::{LongPrompt, Price, PriceTable};
