//! [`FIELDS`], the table of the fields of `agent.json`.

/// A field of the root object of `agent.json`.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Whether it restricts agents when it is set. A misspelled one is an error, because ignoring it
    /// would allow more than the file says.
    pub(super) restricts: bool,
    /// Examples for error messages, by pointer; `*` matches any name.
    pub(super) examples: &'static [(&'static str, &'static str)],
}

/// The fields, in the order in which messages list them. Another field is ignored with a warning.
pub(super) const FIELDS: [Field; 11] = [
    Field {
        name: "$schema",
        restricts: false,
        examples: &[],
    },
    Field {
        name: "profile",
        restricts: true,
        examples: &[("/profile", r#""node""#), ("/profile/*", r#""node""#)],
    },
    Field {
        name: "allowCommands",
        restricts: false,
        examples: &[
            ("/allowCommands", r#"["docker"]"#),
            ("/allowCommands/*", r#""docker""#),
            ("/allowCommands/*", r#"["docker"]"#),
            ("/allowCommands/*/*", r#""docker""#),
        ],
    },
    Field {
        name: "allowPkillTargets",
        restricts: false,
        examples: &[
            ("/allowPkillTargets", r#"["vite"]"#),
            ("/allowPkillTargets/*", r#""vite""#),
        ],
    },
    Field {
        name: "permissions",
        restricts: true,
        examples: &[
            ("/permissions", r#"{"allow": ["WebFetch(domain:docs.rs)"]}"#),
            ("/permissions/allow", r#"["WebFetch(domain:docs.rs)"]"#),
            ("/permissions/allow/*", r#""WebFetch(domain:docs.rs)""#),
        ],
    },
    Field {
        name: "environment",
        restricts: false,
        examples: &[
            ("/environment", r#"{"allow": ["NPM_TOKEN"]}"#),
            ("/environment/allow", r#"["NPM_TOKEN"]"#),
            ("/environment/allow/*", r#""NPM_TOKEN""#),
        ],
    },
    Field {
        name: "allowedTools",
        restricts: true,
        examples: &[
            ("/allowedTools", r#"["Task"]"#),
            ("/allowedTools/*", r#""Task""#),
        ],
    },
    Field {
        name: "mcpServers",
        restricts: true,
        examples: &[
            ("/mcpServers", r#"{"docs": {"command": "docs-server"}}"#),
            ("/mcpServers/*", r#"{"command": "docs-server"}"#),
            ("/mcpServers/*/type", r#""stdio""#),
            ("/mcpServers/*/env/*", r#""value""#),
            ("/mcpServers/*/headers/*", r#""value""#),
        ],
    },
    Field {
        name: "hooks",
        restricts: true,
        examples: &[
            (
                "/hooks",
                r#"[{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}]"#,
            ),
            (
                "/hooks/*",
                r#"{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}"#,
            ),
            ("/hooks/PreToolUse/*", r#""bash-security""#),
            ("/hooks/*/type", r#""core-deny-tool""#),
        ],
    },
    Field {
        name: "projectMemory",
        restricts: true,
        examples: &[("/projectMemory", "false")],
    },
    Field {
        name: "backend",
        restricts: true,
        examples: &[("/backend", r#"{"type": "codex"}"#)],
    },
];
