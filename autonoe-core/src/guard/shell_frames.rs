//! What the text of a shell command is inside of.

/// A construct that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// `'..'`.
    Single,
    /// `$'..'`, in which a backslash escapes.
    DollarSingle,
    /// `".."`.
    Double,
    /// The body of a here-document.
    Document { expands: bool },
    /// `(..)` or `$(..)`.
    Command,
    /// The inner pair of `((..))`.
    Arithmetic,
    /// `` `..` ``.
    Backquote,
    /// `${..}`.
    Parameter {
        /// Whether it holds a pattern, as `${x%.*}` does.
        pattern: bool,
        /// Whether it stands in double quotes or in a here-document.
        in_quotes: bool,
    },
}

/// All constructs that are open, the innermost last.
///
/// Where shells disagree about where a construct ends, the reading is in
/// [doubt](Self::doubt), and from there on nothing counts as quoted.
#[derive(Debug, Default)]
pub(super) struct Frames {
    open: Vec<Frame>,
    backquote: Option<usize>,
    in_doubt: bool,
}

impl Frames {
    /// Gives up telling what is quoted.
    pub(super) fn doubt(&mut self) {
        *self = Self {
            in_doubt: true,
            ..Self::default()
        };
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// Tells how many constructs are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Tells whether something is open that a whole command would have closed.
    pub(super) fn are_unfinished(&self) -> bool {
        self.open.iter().any(|frame| *frame != Frame::Command)
    }

    /// Tells whether wildcards are plain text here.
    pub(super) fn is_quoted(&self) -> bool {
        match self.innermost() {
            Some(Frame::Single | Frame::DollarSingle | Frame::Double | Frame::Document { .. }) => {
                true
            }
            Some(Frame::Parameter { pattern, in_quotes }) => pattern || in_quotes,
            Some(Frame::Command | Frame::Arithmetic | Frame::Backquote) | None => false,
        }
    }

    /// Tells whether an expansion comes to nothing here: it is plain text, or part of a pattern.
    pub(super) fn hides_expansions(&self) -> bool {
        let pattern = matches!(
            self.innermost(),
            Some(Frame::Parameter { pattern: true, .. })
        );
        pattern || self.is_verbatim()
    }

    /// Tells whether a backslash is plain text here.
    pub(super) fn has_plain_backslashes(&self) -> bool {
        self.is_verbatim() && self.innermost() != Some(Frame::DollarSingle)
    }

    /// Tells whether commands are read here, with comments and here-documents.
    pub(super) fn is_command(&self) -> bool {
        let command = matches!(
            self.innermost(),
            None | Some(Frame::Command | Frame::Backquote)
        );
        command && !self.in_doubt
    }

    pub(super) fn is_arithmetic(&self) -> bool {
        self.innermost() == Some(Frame::Arithmetic)
    }

    pub(super) fn is_in_backquotes(&self) -> bool {
        self.backquote.is_some()
    }

    /// Reads a `'` or `"`.
    pub(super) fn quote(&mut self, c: char) {
        match (self.innermost(), c) {
            (Some(Frame::Single | Frame::DollarSingle), '\'') | (Some(Frame::Double), '"') => {
                self.open.pop();
            }
            (None | Some(Frame::Command | Frame::Backquote), '\'') => self.push(Frame::Single),
            (None | Some(Frame::Command | Frame::Backquote), _) => self.push(Frame::Double),
            _ => self.quote_in_expansion(if c == '"' {
                Frame::Double
            } else {
                Frame::Single
            }),
        }
    }

    /// Reads the `$'` that opens a quote, or tells that it does not.
    pub(super) fn dollar_quote(&mut self) -> bool {
        let is_text = self.is_verbatim()
            || matches!(
                self.innermost(),
                Some(Frame::Double | Frame::Document { .. })
            );
        match self.innermost() {
            _ if is_text => {}
            None | Some(Frame::Command | Frame::Backquote) => self.push(Frame::DollarSingle),
            _ => self.quote_in_expansion(Frame::DollarSingle),
        }
        !is_text
    }

    // Shells disagree about quotes in `"${..}"` and in `((..))`.
    fn quote_in_expansion(&mut self, frame: Frame) {
        match self.innermost() {
            Some(Frame::Parameter {
                in_quotes: false, ..
            }) => self.push(frame),
            Some(Frame::Parameter { .. } | Frame::Arithmetic) => self.doubt(),
            _ => {}
        }
    }

    /// Reads a `` ` ``. The next one closes it, whatever is open by then.
    pub(super) fn backquote(&mut self) {
        match self.backquote.take() {
            Some(at) => self.open.truncate(at),
            None if self.is_verbatim() || self.in_doubt => {}
            None => {
                self.backquote = Some(self.open.len());
                self.push(Frame::Backquote);
            }
        }
    }

    /// Reads a `(`; `doubled` tells that it stands right behind another one.
    pub(super) fn parenthesis(&mut self, doubled: bool) {
        if self.is_arithmetic() || (self.is_command() && doubled) {
            self.push(Frame::Arithmetic);
        } else if self.is_command() {
            self.push(Frame::Command);
        }
    }

    /// Reads a `$(`.
    pub(super) fn substitution(&mut self) {
        if !self.is_verbatim() {
            self.push(Frame::Command);
        }
    }

    /// Reads a `)`.
    pub(super) fn end_of_parenthesis(&mut self) {
        if let Some(Frame::Command | Frame::Arithmetic) = self.innermost() {
            self.open.pop();
        }
    }

    /// Reads a `${` with the name behind it.
    pub(super) fn parameter(&mut self, pattern: bool) {
        let in_quotes = match self.innermost() {
            Some(Frame::Double | Frame::Document { .. }) => true,
            Some(Frame::Parameter { in_quotes, .. }) => in_quotes,
            _ => false,
        };
        if !self.is_verbatim() {
            self.push(Frame::Parameter { pattern, in_quotes });
        }
    }

    /// Reads a `}`.
    pub(super) fn end_of_brace(&mut self) {
        if let Some(Frame::Parameter { .. }) = self.innermost() {
            self.open.pop();
        }
    }

    /// Enters the body of a here-document, or any other text that is as good as quoted.
    pub(super) fn document(&mut self, expands: bool) {
        self.push(Frame::Document { expands });
    }

    /// Leaves the body of a here-document.
    pub(super) fn end_of_document(&mut self) {
        if let Some(Frame::Document { .. }) = self.innermost() {
            self.open.pop();
        } else {
            self.doubt();
        }
    }

    fn is_verbatim(&self) -> bool {
        matches!(
            self.innermost(),
            Some(Frame::Single | Frame::DollarSingle | Frame::Document { expands: false })
        )
    }

    fn innermost(&self) -> Option<Frame> {
        self.open.last().copied()
    }

    fn push(&mut self, frame: Frame) {
        if !self.in_doubt {
            self.open.push(frame);
        }
    }
}
