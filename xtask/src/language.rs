//! `cargo xtask language`: finds names and comments that break the rules of CONTRIBUTING.md.

mod identifiers;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use self::identifiers::{Identifier, identifiers, words};
use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::git;

/// Fails with the file and line of every name or comment that breaks a rule.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let mut findings = Vec::new();
    for file in git::tracked_files(cargo.root(), "*.rs")? {
        let text = fs::read_to_string(cargo.root().join(&file))
            .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
        findings.extend(Finding::in_file(&file, &text));
    }
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    Failure::unless_empty(
        "names or comments break the writing rules of CONTRIBUTING.md",
        &lines,
    )
}

/// Words that must not begin the description of a file.
const QUESTION_WORDS: [&str; 8] = [
    "What", "Who", "How", "Where", "When", "Why", "Which", "Whether",
];

/// The question word that may begin the documentation of an item: "Whether it is paused."
const BOOLEAN_WORD: &str = "Whether";

/// Words that must not begin the name of a function, mostly of a test.
const NAME_PREFIXES: [&str; 5] = ["what_", "who_", "why_", "how_", "whatever_"];

/// Function names that say too little: the writing rules have a verb for each.
const FUNCTIONS: [&str; 24] = [
    "of",
    "look",
    "carry_out",
    "ask",
    "say",
    "come",
    "go_on",
    "see_through",
    "met",
    "mend",
    "speak",
    "hand_on",
    "happened",
    "whole",
    "found",
    "place",
    "beside",
    "nothing",
    "put",
    "make",
    "lose",
    "doing",
    "contest",
    "humps",
];

/// Names of files and folders that are participles, adverbs or metaphors.
const FILES: [&str; 22] = [
    "happened",
    "arriving",
    "again",
    "away",
    "door",
    "walls",
    "lending",
    "words",
    "talk",
    "courier",
    "seeing",
    "foreign",
    "coming",
    "carrying",
    "beat",
    "stranger",
    "beginnings",
    "aims",
    "fitness",
    "announced",
    "harmless",
    "driving",
];

/// Words that no name of Rust code contains: there is a plain verb or noun for each.
const WORDS: [&str; 21] = [
    "told", "untold", "said", "unsaid", "asked", "unasked", "heard", "unheard", "tell", "tells",
    "telling", "teller", "anew", "begun", "whoever", "nobody", "somebody", "ours", "mouth",
    "purse", "unwanted",
];

/// Words that other names than sentences, which name tests, do not contain either.
const VAGUE_WORDS: [&str; 16] = [
    "what",
    "why",
    "who",
    "whose",
    "how",
    "gone",
    "came",
    "went",
    "goes",
    "meant",
    "kept",
    "shown",
    "aside",
    "elsewhere",
    "story",
    "stories",
];

/// Names of standard crates with such words.
const STANDARD_NAMES: [&str; 1] = ["GONE"];

/// The number of words from which the name of a function is a sentence.
const SENTENCE: usize = 4;

/// Words before a "who" without a noun.
const BEFORE_PRONOUN: [&str; 8] = ["by", "of", "for", "to", "from", "with", "as", "and"];

/// A rule of the writing rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// The description of a file begins with a question word.
    QuestionWord,
    /// The documentation of an item begins with a question word.
    ItemDoc,
    /// The name of a function begins with a word of [`NAME_PREFIXES`].
    NamePrefix,
    /// A function has a name of [`FUNCTIONS`].
    FunctionName,
    /// A file or its folder has a name of [`FILES`] or a word of [`WORDS`].
    FileName,
    /// A comment has a "who" that no noun stands before.
    BarePronoun,
    /// A name contains a word of [`WORDS`] or [`VAGUE_WORDS`].
    Word,
}

impl Rule {
    /// The name of the rule in messages.
    fn name(self) -> &'static str {
        match self {
            Self::QuestionWord => "question-word",
            Self::ItemDoc => "item-doc",
            Self::NamePrefix => "name-prefix",
            Self::FunctionName => "function-name",
            Self::FileName => "file-name",
            Self::BarePronoun => "bare-who",
            Self::Word => "word",
        }
    }
}

/// One place that breaks a rule. Displays as `file:line: rule: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    file: PathBuf,
    line: usize,
    rule: Rule,
    text: String,
}

impl Finding {
    /// Returns the findings of one file, in order.
    fn in_file(file: &Path, text: &str) -> Vec<Self> {
        let finding = |line, rule, text: &str| Self {
            file: file.to_owned(),
            line,
            rule,
            text: text.trim().to_owned(),
        };
        let mut findings = Vec::new();
        if let Some(name) = vague_file_name(file) {
            findings.push(finding(1, Rule::FileName, name));
        }
        let mut is_first_doc_line = true;
        let mut is_in_item_doc = false;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let line = line.trim();
            if let Some(description) = line.strip_prefix("//!") {
                if is_first_doc_line && begins_with_question_word(description) {
                    findings.push(finding(number, Rule::QuestionWord, line));
                }
                is_first_doc_line = false;
            }
            let documentation = line.strip_prefix("///");
            if !is_in_item_doc && documentation.is_some_and(is_question) {
                findings.push(finding(number, Rule::ItemDoc, line));
            }
            is_in_item_doc = documentation.is_some();
            match comment(line) {
                Some(comment) if has_bare_pronoun(comment) => {
                    findings.push(finding(number, Rule::BarePronoun, line));
                }
                comment => {
                    let code = comment.map_or(Some(line), example_function);
                    let rule = code.and_then(defined_function).and_then(broken_rule);
                    findings.extend(rule.map(|rule| finding(number, rule, line)));
                }
            }
        }
        // A file repeats its names, and this program is not optimised.
        let mut checked = HashMap::new();
        let vague = identifiers(text).filter(|found| {
            let key = (found.name, found.is_function);
            *checked.entry(key).or_insert_with(|| is_vague(found))
        });
        findings.extend(vague.map(|found| finding(found.line, Rule::Word, found.name)));
        findings
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, rule) = (self.file.display(), self.rule.name());
        write!(f, "{file}:{}: {rule}: {}", self.line, self.text)
    }
}

/// Returns the first part of the path, below the folder of the package, that is too vague.
fn vague_file_name(file: &Path) -> Option<&str> {
    let parts = file.iter().filter_map(|part| part.to_str());
    parts
        .map(|part| part.strip_suffix(".rs").unwrap_or(part))
        .find(|part| FILES.contains(part) || has_word(part, &WORDS))
}

fn begins_with_question_word(description: &str) -> bool {
    first_word(description).is_some_and(|word| QUESTION_WORDS.contains(&word))
}

/// Returns whether the documentation of an item begins with a question word.
fn is_question(documentation: &str) -> bool {
    begins_with_question_word(documentation) && first_word(documentation) != Some(BOOLEAN_WORD)
}

/// Returns the first word, without an apostrophe or a comma at its end.
fn first_word(text: &str) -> Option<&str> {
    let first = text.split_whitespace().next();
    first.map(|word| word.trim_end_matches([',', '\'']))
}

/// Returns the text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']))
}

fn has_bare_pronoun(comment: &str) -> bool {
    let mut before = None;
    for word in comment.split_whitespace() {
        let is_first = before.is_none_or(|before: &str| before.ends_with(['.', ':', ';']));
        let is_after_preposition = before.is_some_and(|before| BEFORE_PRONOUN.contains(&before));
        if (word == "Who" || word == "Whoever") && is_first {
            return true;
        }
        if word == "whoever" || (word == "who" && is_after_preposition) {
            return true;
        }
        before = Some(word);
    }
    false
}

/// Returns the line of code in a comment, if it defines a function of an example.
fn example_function(comment: &str) -> Option<&str> {
    let code = comment.trim_start();
    let code = code.strip_prefix("# ").unwrap_or(code);
    let is_definition = ["fn ", "async fn ", "pub fn ", "pub async fn "]
        .iter()
        .any(|start| code.starts_with(start));
    is_definition.then_some(code)
}

/// Returns the name of the function that the line defines.
fn defined_function(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_in_text = before.contains('"');
    let is_definition = !is_in_text && (before.is_empty() || before.ends_with(' '));
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_');
    is_definition.then(|| &after[..end.unwrap_or(after.len())])
}

/// Says whether a name contains a word of the lists.
fn is_vague(identifier: &Identifier<'_>) -> bool {
    if STANDARD_NAMES.contains(&identifier.name) {
        return false;
    }
    let is_sentence = identifier.is_function && words(identifier.name).len() >= SENTENCE;
    has_word(identifier.name, &WORDS) || (!is_sentence && has_word(identifier.name, &VAGUE_WORDS))
}

/// Says whether one of the words of a name is in `list`.
fn has_word(name: &str, list: &[&str]) -> bool {
    words(name).iter().any(|word| list.contains(&word.as_str()))
}

/// Returns the rule that the name of a function breaks.
fn broken_rule(name: &str) -> Option<Rule> {
    if FUNCTIONS.contains(&name) {
        return Some(Rule::FunctionName);
    }
    let is_question = NAME_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    is_question.then_some(Rule::NamePrefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(file: &str, text: &str) -> Vec<(usize, &'static str)> {
        let findings = Finding::in_file(Path::new(file), text);
        findings
            .iter()
            .map(|finding| (finding.line, finding.rule.name()))
            .collect()
    }

    #[test]
    fn finds_question_words_in_the_first_line_of_a_file() {
        assert_eq!(rules("a.rs", "//! What it does."), [(1, "question-word")]);
        assert_eq!(rules("a.rs", "//! Reads files.\n//! What it reads:"), []);
        assert_eq!(rules("a.rs", "// What it does."), []);
    }

    #[test]
    fn finds_names_of_functions() {
        assert_eq!(
            rules("a.rs", "    pub(crate) async fn ask(&self) {"),
            [(1, "function-name")]
        );
        assert_eq!(
            rules("a.rs", "fn of<T>(t: T) -> T {"),
            [(1, "function-name")]
        );
        assert_eq!(
            rules("a.rs", "/// # async fn speak() {"),
            [(1, "function-name")]
        );
        assert_eq!(
            rules(
                "a.rs",
                "fn ask_all() {}\n// the fn ask\nlet x = \"a fn of\";"
            ),
            []
        );
    }

    #[test]
    fn finds_names_that_begin_with_a_question_word() {
        assert_eq!(
            rules("a.rs", "    async fn what_is_sent_arrives_there() {"),
            [(1, "name-prefix")]
        );
        assert_eq!(
            rules("a.rs", "fn who_of_them_waits() {"),
            [(1, "name-prefix")]
        );
        assert_eq!(rules("a.rs", "fn whats_new() {}\nfn show() {}"), []);
    }

    #[test]
    fn finds_question_words_in_the_first_line_of_an_item() {
        assert_eq!(
            rules("a.rs", "/// Reads it.\nx: u8,\n    /// How long it waits."),
            [(3, "item-doc")]
        );
        assert_eq!(rules("a.rs", "/// Reads it.\n/// What is left stays."), []);
        assert_eq!(rules("a.rs", "/// Whether it is paused."), []);
    }

    #[test]
    fn finds_names_of_files_and_folders() {
        assert_eq!(rules("core/src/told.rs", ""), [(1, "file-name")]);
        assert_eq!(rules("core/src/door/key.rs", ""), [(1, "file-name")]);
        assert_eq!(rules("core/src/doors.rs", ""), []);
    }

    #[test]
    fn finds_vague_words_in_names() {
        assert_eq!(rules("a.rs", "let x = 1;\nlet told_to = x;"), [(2, "word")]);
        assert_eq!(rules("a.rs", "struct KeptWork;"), [(1, "word")]);
        assert_eq!(rules("a.rs", "StatusCode::GONE // was told \"told\""), []);
        assert_eq!(rules("a.rs", "fn keeps_what_the_agent_wrote() {}"), []);
        assert_eq!(
            rules("a.rs", "fn keeps_what_was_said_before() {}"),
            [(1, "word")]
        );
    }

    #[test]
    fn finds_who_without_a_noun() {
        assert_eq!(
            rules("a.rs", "// Who drops it stops it."),
            [(1, "bare-who")]
        );
        assert_eq!(
            rules("a.rs", "/// It is read by who wants it."),
            [(1, "bare-who")]
        );
        assert_eq!(
            rules("a.rs", "/// Stops it. Whoever waits gets an error."),
            [(1, "bare-who")]
        );
        assert_eq!(rules("a.rs", "/// The caller who drops it stops it."), []);
    }
}
