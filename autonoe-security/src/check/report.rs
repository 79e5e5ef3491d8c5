//! The commands found by a walk, with their words and verdicts.

use std::cell::RefCell;

use crate::syntax::{ArgWord, SimpleCommand, Span, Text, commands, parse};
use crate::{Denial, InnerCommands, Verdict};

/// A command of a text, the commands that it starts, and the verdict of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Finding {
    /// The bytes of the text in which it stands.
    pub span: std::ops::Range<usize>,
    /// Its name as written; `None` for assignments alone, and for what is no command.
    pub name: Option<String>,
    /// Its name and arguments without quotes; `None` for a word that the shell expands.
    pub words: Vec<Option<String>>,
    /// The commands that it starts by its words, as `bash -c`, `find -exec`, `xargs` and `env` do.
    pub inner: Vec<InnerCommand>,
    /// Whether it may start commands that `inner` does not show, as `bash script.sh` does.
    pub starts_unknown: bool,
    /// Verdict of the policy, without that on nested commands.
    pub verdict: Verdict,
}

impl Finding {
    /// Returns the words of the command, then those of every command that it starts.
    ///
    /// ```
    /// use autonoe_security::{BashValidator, Policy, PolicyConfig};
    ///
    /// let validator = BashValidator::new(Policy::new("/srv/project", PolicyConfig::default())?);
    ///
    /// let found = validator.explain("env A=1 bash -c 'git push \"$x\"'");
    ///
    /// let names: Vec<_> = found.commands[0].invocations().iter().map(|words| words[0].clone()).collect();
    /// assert_eq!(names, ["env", "bash", "git"].map(|name| Some(name.to_owned())));
    /// # Ok::<(), autonoe_security::PolicyError>(())
    /// ```
    pub fn invocations(&self) -> Vec<&[Option<String>]> {
        let mut all = vec![&self.words[..]];
        let mut left: Vec<&InnerCommand> = self.inner.iter().rev().collect();
        while let Some(next) = left.pop() {
            all.push(&next.words);
            left.extend(next.inner.iter().rev());
        }
        all
    }
}

/// A command that another one starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InnerCommand {
    /// The bytes in which it stands; for a command of a script in quotes, those of the script.
    pub span: std::ops::Range<usize>,
    /// Its name and arguments without quotes; `None` for a word that the shell expands.
    pub words: Vec<Option<String>>,
    /// The commands that it starts in turn.
    pub inner: Vec<InnerCommand>,
}

/// Maximum depth of nested commands.
const DEEPEST: usize = 8;

/// The commands that a command starts.
#[derive(Default)]
struct Started {
    inner: Vec<InnerCommand>,
    is_uncertain: bool,
}

impl Started {
    fn read(words: &[(Option<String>, Span)], depth: usize) -> Self {
        let texts: Vec<Option<&str>> = words.iter().map(|(text, _)| text.as_deref()).collect();
        let found = InnerCommands::read(&texts);
        let mut started = Self {
            inner: Vec::new(),
            is_uncertain: found.is_uncertain || (depth == DEEPEST && !found.is_empty()),
        };
        if depth == DEEPEST {
            return started;
        }
        for range in found.commands {
            started.add(&words[range], depth);
        }
        for range in found.scripts {
            let words = &words[range];
            let text: Option<Vec<&str>> = words.iter().map(|(text, _)| text.as_deref()).collect();
            let text = text.map(|texts| texts.join(" "));
            let Some(Ok(script)) = text.as_deref().map(parse) else {
                started.is_uncertain = true;
                continue;
            };
            let place = span_of(words);
            for command in commands(&script) {
                let words = command.words.iter().map(|word| (known(word), place));
                started.add(&words.collect::<Vec<_>>(), depth);
            }
        }
        started
    }

    fn add(&mut self, words: &[(Option<String>, Span)], depth: usize) {
        if words.is_empty() {
            return;
        }
        let started = Self::read(words, depth + 1);
        self.is_uncertain |= started.is_uncertain;
        self.inner.push(InnerCommand {
            span: span_of(words).range(),
            words: words.iter().map(|(text, _)| text.clone()).collect(),
            inner: started.inner,
        });
    }
}

fn known(word: &ArgWord<'_>) -> Option<String> {
    word.static_text().map(Text::into_owned)
}

fn span_of(words: &[(Option<String>, Span)]) -> Span {
    let mut spans = words.iter().map(|(_, span)| *span);
    let first = spans.next().unwrap_or_default();
    spans.next_back().map_or(first, |last| first.to(last))
}

/// Collects findings, or stops the walk at the first denial.
pub(crate) struct Report {
    found: Option<RefCell<Vec<Finding>>>,
}

impl Report {
    /// Stops the walk at the first denial.
    pub(crate) fn first() -> Self {
        Self { found: None }
    }

    /// Collects everything.
    pub(crate) fn all() -> Self {
        Self {
            found: Some(RefCell::new(Vec::new())),
        }
    }

    /// Returns the findings in the order of the text.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let mut found = self.found.map(RefCell::into_inner).unwrap_or_default();
        // The body of a loop is judged twice if it changes the directory; denials come first.
        found.sort_by_key(|finding| {
            let Finding { span, verdict, .. } = finding;
            (span.start, span.end, verdict.is_allowed())
        });
        found.dedup_by(|later, first| later.span == first.span && later.name == first.name);
        found
    }

    /// Records a simple command.
    pub(crate) fn command<T: Default>(
        &self,
        simple: &SimpleCommand<'_>,
        span: Span,
        judged: Result<T, Denial>,
    ) -> Result<T, Denial> {
        let Some(found) = &self.found else {
            return judged;
        };
        let words = simple.words.iter().map(|word| (known(word), word.span()));
        let words: Vec<_> = words.collect();
        let started = Started::read(&words, 0);
        let words: Vec<_> = words.into_iter().map(|(text, _)| text).collect();
        let (verdict, value) = split(judged);
        found.borrow_mut().push(Finding {
            span: span.range(),
            name: words.first().cloned().flatten(),
            words,
            inner: started.inner,
            starts_unknown: started.is_uncertain,
            verdict,
        });
        Ok(value)
    }

    /// Records a command inside the text at `span`, which is judged as a whole.
    pub(crate) fn inner(&self, name: &str, span: Span) {
        if let Some(found) = self.found.as_ref().filter(|_| !name.is_empty()) {
            found.borrow_mut().push(Finding {
                span: span.range(),
                name: Some(name.to_owned()),
                words: vec![Some(name.to_owned())],
                inner: Vec::new(),
                starts_unknown: true,
                verdict: Verdict::Allow,
            });
        }
    }

    /// Records anything else, if it is denied.
    pub(crate) fn other(&self, span: Span, judged: Result<(), Denial>) -> Result<(), Denial> {
        match (&self.found, judged) {
            (Some(found), Err(denial)) => {
                found.borrow_mut().push(Finding {
                    span: span.range(),
                    name: None,
                    words: Vec::new(),
                    inner: Vec::new(),
                    starts_unknown: false,
                    verdict: Verdict::Deny(denial),
                });
                Ok(())
            }
            (_, judged) => judged,
        }
    }
}

fn split<T: Default>(judged: Result<T, Denial>) -> (Verdict, T) {
    match judged {
        Ok(value) => (Verdict::Allow, value),
        Err(denial) => (Verdict::Deny(denial), T::default()),
    }
}
