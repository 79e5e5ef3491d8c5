//! Strategies, by the words of the specification and by their contract.

mod contract;
mod faulty;
mod words;
