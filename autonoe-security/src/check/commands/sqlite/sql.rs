//! Reads SQL for `sqlite3` far enough to know which files a statement reaches.

/// The effect of a text of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// It reads the database.
    Reads,
    /// It changes the database.
    Changes,
    /// It may reach something else: another file, a program, or an unknown function.
    ReachesMore,
}

/// Returns the greatest effect of the statements in `text`.
pub(super) fn effect(text: &str) -> Effect {
    let Some(tokens) = tokens(text) else {
        return Effect::ReachesMore;
    };
    // A line with a leading dot may be a command of the SQLite shell.
    if text.lines().any(|line| line.trim_start().starts_with('.')) {
        return Effect::ReachesMore;
    }
    let statements = tokens.split(|token| *token == Token::Symbol(b';'));
    let effects = statements.map(statement);
    effects.max().unwrap_or(Effect::Reads)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// A keyword or an unquoted name.
    Word(&'t str),
    /// A quoted text or name, or a number.
    Value,
    /// A quoted name, which may be the name of a function.
    Quoted(&'t str),
    Symbol(u8),
}

/// Splits SQL into tokens; `None` if it is not plain.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let begin = at;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2 + text[at + 2..].find("*/")? + 2;
            }
            b'\'' => {
                at = after_quote(bytes, at, b'\'')?;
                tokens.push(Token::Value);
            }
            b'"' | b'`' => {
                at = after_quote(bytes, at, byte)?;
                tokens.push(Token::Quoted(&text[begin + 1..at - 1]));
            }
            b'[' => {
                at += text[at..].find(']')? + 1;
                tokens.push(Token::Quoted(&text[begin + 1..at - 1]));
            }
            b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._".contains(byte);
                at += bytes[at..].iter().take_while(|it| is_part(it)).count();
                tokens.push(Token::Value);
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                let is_part = |byte: &u8| {
                    byte.is_ascii_alphanumeric() || b"_$".contains(byte) || *byte >= 0x80
                };
                at += bytes[at..].iter().take_while(|it| is_part(it)).count();
                tokens.push(Token::Word(&text[begin..at]));
            }
            _ if b"()*,.;=<>!+-/%|&~?:@#$".contains(&byte) => {
                at += 1;
                tokens.push(Token::Symbol(byte));
            }
            _ => return None,
        }
    }
    Some(tokens)
}

/// Returns the end of the quoted text that starts at `at`. Two quotes are an escaped quote.
fn after_quote(bytes: &[u8], at: usize, quote: u8) -> Option<usize> {
    let mut end = at + 1;
    loop {
        if *bytes.get(end)? != quote {
            end += 1;
        } else if bytes.get(end + 1) == Some(&quote) {
            end += 2;
        } else {
            return Some(end + 1);
        }
    }
}

/// Functions of every SQLite, which compute from their arguments and from the rows.
const FUNCTIONS: &[&str] = words!(
    "abs avg cast char coalesce concat concat_ws count cume_dist date datetime dense_rank exists",
    "first_value format glob group_concat hex ifnull iif instr json json_array json_array_length",
    "json_each json_extract json_group_array json_group_object json_object json_type json_valid",
    "julianday lag last_insert_rowid last_value lead length like lower ltrim max min nth_value",
    "ntile nullif percent_rank printf quote random randomblob rank replace round row_number rtrim",
    "sign sqlite_version strftime string_agg substr substring sum time timediff total",
    "total_changes changes trim typeof unicode unixepoch upper",
);

/// Words before a bracket that are not functions.
const KEYWORDS: &[&str] = words!(
    "all and any as between by check default distinct else except filter from having in index",
    "intersect is join key limit materialized not offset on or over partition select set then",
    "union unique using values when where",
);

/// Settings that a `PRAGMA` without a value prints.
const PRINTED_SETTINGS: &[&str] = words!(
    "application_id auto_vacuum encoding foreign_keys journal_mode page_size schema_version",
    "synchronous user_version",
);

/// Pragmas that print information about the database.
const PRAGMAS: &[&str] = words!(
    "collation_list compile_options database_list foreign_key_check foreign_key_list",
    "freelist_count index_info index_list index_xinfo integrity_check page_count quick_check",
    "table_info table_list table_xinfo",
);

fn statement(tokens: &[Token<'_>]) -> Effect {
    let words: Vec<String> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(word.to_ascii_lowercase()),
            _ => None,
        })
        .collect();
    let Some(first) = words.first() else {
        // Nothing, or text that is not a statement.
        return if tokens.is_empty() {
            Effect::Reads
        } else {
            Effect::ReachesMore
        };
    };
    let is_first = matches!(tokens.first(), Some(Token::Word(_)));
    if !is_first || tokens.iter().any(is_table_of_files) {
        return Effect::ReachesMore;
    }
    let has = |word: &str| words.iter().any(|it| it == word);
    let second = words.get(1).map_or("", String::as_str);
    match first.as_str() {
        "pragma" => {
            let is_call = tokens.iter().all(|token| {
                matches!(
                    token,
                    Token::Word(_) | Token::Quoted(_) | Token::Value | Token::Symbol(b'(' | b')')
                )
            });
            let is_printed = tokens.len() == 2 && PRINTED_SETTINGS.contains(&second);
            return if is_call && (PRAGMAS.contains(&second) || is_printed) {
                Effect::Reads
            } else {
                Effect::ReachesMore
            };
        }
        "select" | "with" | "values" | "explain" | "insert" | "update" | "delete" | "replace"
        | "begin" | "commit" | "end" | "rollback" | "savepoint" | "release" => {}
        "create" => {
            let is_plain = matches!(second, "table" | "index" | "unique" | "view");
            return if is_plain && has_plain_definitions(tokens, second) {
                Effect::Changes
            } else {
                Effect::ReachesMore
            };
        }
        "alter" | "drop" if matches!(second, "table" | "index" | "view") => {}
        _ => return Effect::ReachesMore,
    }
    if !calls_known_functions(tokens) {
        return Effect::ReachesMore;
    }
    let changes = [
        "insert", "update", "delete", "replace", "alter", "drop", "begin", "commit",
    ];
    let only_reads = matches!(first.as_str(), "select" | "values")
        || matches!(first.as_str(), "with" | "explain") && !changes.iter().any(|it| has(it));
    if only_reads {
        Effect::Reads
    } else {
        Effect::Changes
    }
}

/// Returns whether a token is a table of the SQLite shell that reads files.
fn is_table_of_files(token: &Token<'_>) -> bool {
    match token {
        Token::Word(name) | Token::Quoted(name) => ["fsdir", "zipfile"]
            .iter()
            .any(|it| name.eq_ignore_ascii_case(it)),
        _ => false,
    }
}

/// Returns whether each name before a bracket is a known function, a keyword, or a table that rows
/// are inserted into.
fn calls_known_functions(tokens: &[Token<'_>]) -> bool {
    names_before_brackets(tokens).all(|(at, name, is_quoted)| {
        let is_keyword = !is_quoted && KEYWORDS.contains(&name.as_str());
        is_keyword
            || FUNCTIONS.contains(&name.as_str())
            || follows_any(tokens, at, &["into", "with", "recursive"])
    })
}

/// Types with a size, as in `VARCHAR(20)`.
const TYPES: &[&str] = words!(
    "char character dec decimal float int integer nchar numeric nvarchar text varchar varying"
);

/// Returns whether a definition only has known functions and types. Its own name, and tables that
/// it refers to, follow a keyword.
fn has_plain_definitions(tokens: &[Token<'_>], construct: &str) -> bool {
    let places: &[&str] = match construct {
        "table" => words!("table exists references"),
        "view" => words!("view exists"),
        _ => words!("on"),
    };
    names_before_brackets(tokens).all(|(at, name, is_quoted)| {
        let is_word =
            !is_quoted && (KEYWORDS.contains(&name.as_str()) || TYPES.contains(&name.as_str()));
        is_word || FUNCTIONS.contains(&name.as_str()) || follows_any(tokens, at, places)
    })
}

/// Returns every name before a bracket, its position, and whether it is quoted.
fn names_before_brackets<'t>(
    tokens: &'t [Token<'_>],
) -> impl Iterator<Item = (usize, String, bool)> + 't {
    let pairs = tokens.windows(2).enumerate();
    pairs.filter_map(|(at, pair)| match pair {
        [Token::Word(name), Token::Symbol(b'(')] => Some((at, name.to_ascii_lowercase(), false)),
        [Token::Quoted(name), Token::Symbol(b'(')] => Some((at, name.to_ascii_lowercase(), true)),
        _ => None,
    })
}

/// Returns whether the token at `at` follows one of the words.
fn follows_any(tokens: &[Token<'_>], at: usize, words: &[&str]) -> bool {
    let before = at.checked_sub(1).map(|before| tokens[before]);
    matches!(before, Some(Token::Word(word)) if words.iter().any(|it| word.eq_ignore_ascii_case(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_is_classified_by_its_reach() {
        for text in [
            "",
            ";",
            "SELECT 1",
            "select count(*) from users;",
            "SELECT name FROM sqlite_master WHERE type='table';",
            "SELECT \"id\", [a b] FROM t WHERE x IN (1, 2) AND y LIKE '%(a)%'",
            "WITH t(x) AS (SELECT 1) SELECT max(x) FROM t -- load_extension('x')",
            "WITH RECURSIVE t(x) AS (VALUES (1)) SELECT * FROM t",
            "EXPLAIN QUERY PLAN SELECT * FROM t",
            "PRAGMA table_info(users)",
            "PRAGMA integrity_check",
            "select 'it''s; attach' /* attach */",
        ] {
            assert_eq!(effect(text), Effect::Reads, "{text}");
        }
        for text in [
            "INSERT INTO users(name) VALUES ('a')",
            "update t set x = upper(x)",
            "DELETE FROM sessions; SELECT 1",
            "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, n VARCHAR(20) CHECK (length(n) > 1))",
            "CREATE UNIQUE INDEX i ON t(a, b)",
            "CREATE TABLE a (b REFERENCES c(d))",
            "CREATE VIEW v(a) AS SELECT count(*) FROM t",
            "ALTER TABLE t ADD COLUMN c TEXT",
            "DROP TABLE t",
            "BEGIN; UPDATE t SET a=1; COMMIT",
            "EXPLAIN DELETE FROM t",
            "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
        ] {
            assert_eq!(effect(text), Effect::Changes, "{text}");
        }
        for text in [
            "ATTACH 'x.db' AS x",
            "/**/ ATTACH DATABASE '/tmp/x' AS y",
            "SELECT load_extension('x')",
            "SELECT load_extension /* */ ('x')",
            "SELECT \"load_extension\"('x')",
            "SELECT [writefile]('a', 'b')",
            "SELECT `edit`('a', 'sh')",
            "SELECT readfile('/etc/passwd')",
            "SELECT * FROM fsdir('/')",
            "SELECT data FROM fsdir WHERE path = '/etc'",
            "SELECT data FROM \"fsdir\" WHERE path = '/etc'",
            "SELECT * FROM zipfile WHERE file = 'x.zip'",
            "VACUUM INTO 'x.db'",
            "VACUUM",
            "PRAGMA journal_mode = WAL",
            "PRAGMA temp_store_directory('/x')",
            "PRAGMA x.table_info(t)",
            "CREATE VIRTUAL TABLE t USING fts5(a)",
            "CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END",
            "CREATE VIEW v AS SELECT edit('a', 'sh')",
            "CREATE VIEW v AS SELECT * FROM a JOIN b ON edit('a', 'sh')",
            "CREATE TABLE t(a DEFAULT (edit('a')))",
            "CREATE INDEX i ON t(edit(a))",
            "DETACH x",
            "REINDEX",
            "ANALYZE",
            "SELECT 'open",
            "SELECT /* open",
            "SELECT 1\n.shell id",
            "SELECT 1;\n  .shell id",
            "SELECT \\!",
            "(SELECT 1)",
            "'SELECT'",
            "\u{a0}SELECT 1",
            "selectload_extension('x')",
        ] {
            assert_eq!(effect(text), Effect::ReachesMore, "{text}");
        }
    }
}
