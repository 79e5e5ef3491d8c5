//! Tests of the parser through the public API.

mod arithmetic;
mod assignments;
mod bash;
mod bash_corpus;
mod bash_machine;
mod bash_mutations;
mod bash_words;
mod braces;
mod compound;
mod conditions;
mod continuations;
mod expansions;
mod generated;
mod here_documents;
mod limits;
mod lists;
mod outline;
mod outline_words;
mod owned;
mod probes;
mod probes_of_tricks;
mod redirects;
mod refusals;
mod spans;
mod stress;
mod word_parsing;
