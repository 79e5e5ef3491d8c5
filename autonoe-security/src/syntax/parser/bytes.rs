//! Byte classes of the parser.

/// Ends a word: blanks, operators, and the end of the text.
pub(super) const BREAK: u8 = 1;
/// Has a special meaning in a word without quotes.
pub(super) const ACTIVE: u8 = 1 << 1;
/// Has a special meaning in double quotes.
pub(super) const ACTIVE_IN_QUOTES: u8 = 1 << 2;
/// Has a special meaning after the operator of `${x:-..}`.
pub(super) const ACTIVE_IN_OPERAND: u8 = 1 << 3;
/// Starts a name.
pub(super) const NAME_START: u8 = 1 << 4;
/// Continues a name.
pub(super) const NAME: u8 = 1 << 5;
/// Starts a reserved word.
pub(super) const KEYWORD_START: u8 = 1 << 6;
/// Is part of an operator: two adjacent ones may form one operator.
pub(super) const OPERATOR: u8 = 1 << 7;

static CLASSES: [u8; 256] = classes();

/// Returns whether `byte` is in one of `classes`. The end of the text reads as 0.
#[inline]
pub(super) fn is(byte: u8, classes: u8) -> bool {
    CLASSES[byte as usize] & classes != 0
}

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    table = with(table, b"\0 \t\n;&|()<>", BREAK);
    table = with(table, b"\0 \t\n;&|()<>'\"`\\$*?[]{}~\r", ACTIVE);
    table = with(table, b"\0\"`\\$", ACTIVE_IN_QUOTES);
    table = with(table, b"\0'\"`\\$*?[]}~<>/\r", ACTIVE_IN_OPERAND);
    table = with(table, b"itefcdwus{}![]", KEYWORD_START);
    table = with(table, b";&|()<>", OPERATOR);
    table = with(table, b"_", NAME_START | NAME);
    let mut letter = b'a';
    while letter <= b'z' {
        table[letter as usize] |= NAME_START | NAME;
        table[letter.to_ascii_uppercase() as usize] |= NAME_START | NAME;
        letter += 1;
    }
    with(table, b"0123456789", NAME)
}

const fn with(mut table: [u8; 256], bytes: &[u8], class: u8) -> [u8; 256] {
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] |= class;
        index += 1;
    }
    table
}
