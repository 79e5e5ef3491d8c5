//! Cases named in the specification, one test each.

use autonoe_security::BashSecurity;

use crate::policy::support::corpus;

/// Judges the case of the corpus with this id, which must be this command.
fn is_allowed(id: &str, command: &str) -> bool {
    let mut cases = corpus().into_iter();
    let case = cases
        .find(|case| case.id == id)
        .expect("it is in the corpus");
    assert_eq!(case.command, command);
    case.validator().check(&case.command).is_allowed()
}

macro_rules! cases {
    ($($name:ident: $id:literal, $command:literal, $is_allowed:literal;)+) => {
        $(#[test]
        fn $name() {
            assert_eq!(is_allowed($id, $command), $is_allowed);
        })+
    };
}

cases! {
    an_empty_text_is_allowed: "spec-tables-001", "", true;
    an_empty_name_alone_is_allowed: "spec-tables-002", "\"\"", true;
    a_script_in_bin_of_the_project_is_allowed: "spec-tables-003", "./bin/dev.sh", true;
    cargo_is_allowed_with_the_profile_rust: "spec-tables-004", "cargo build", true;
    chmod_that_makes_executable_is_allowed: "spec-tables-005", "chmod +x script.sh", true;
    a_command_that_a_user_added_is_allowed: "spec-tables-006", "custom-cli arg", true;
    a_backslash_in_quotes_is_text: "spec-tables-007", "echo \"test\\nvalue\"", true;
    mv_inside_the_project_is_allowed_when_destructive_commands_are: "spec-tables-008", "mv src.ts dst.ts", true;
    npm_is_allowed_with_all_profiles: "spec-tables-009", "npm install", true;
    npm_is_allowed_with_the_profiles_node_and_python: "spec-tables-010", "npm install", true;
    pkill_of_artisan_is_allowed_with_the_profile_php: "spec-tables-011", "pkill artisan", true;
    pkill_of_node_alone_is_denied: "spec-tables-012", "pkill node", false;
    rm_inside_the_project_is_allowed_when_destructive_commands_are: "spec-tables-013", "rm file.txt", true;
    a_script_without_a_leading_dot_is_denied: "spec-tables-014", "bin/dev.sh --flag", false;
    chmod_of_a_whole_folder_is_denied: "spec-tables-015", "chmod -R +x dir/", false;
    chmod_by_number_is_denied: "spec-tables-016", "chmod 777 file", false;
    go_is_denied_with_the_profiles_node_and_python: "spec-tables-017", "go build", false;
    mv_from_outside_of_the_project_is_denied: "spec-tables-018", "mv ../src.ts dst.ts", false;
    npm_is_denied_with_the_profiles_rust_and_php: "spec-tables-019", "npm install", false;
    one_denied_command_denies_the_chain: "spec-tables-020", "npm install && rm -rf /", false;
    pip_is_denied_with_the_profile_node: "spec-tables-021", "pip install requests", false;
    pkill_of_postgres_is_denied: "spec-tables-022", "pkill postgres", false;
    pkill_of_uvicorn_is_denied_with_the_profile_node: "spec-tables-023", "pkill uvicorn", false;
    a_backslash_does_not_hide_rm: "spec-tables-024", "r\\m -rf /", false;
    rm_without_the_guard_of_the_root_is_denied: "spec-tables-025", "rm --no-preserve-root /", false;
    rm_of_the_root_is_denied: "spec-tables-026", "rm -rf /", false;
    rm_outside_of_the_project_is_denied: "spec-tables-027", "rm ../file.txt", false;
    rm_is_denied_when_destructive_commands_are_not_allowed: "spec-tables-028", "rm file.txt", false;
}
