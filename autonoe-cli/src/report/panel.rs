//! Panels of the report, and the tables in them.

use maud::{Markup, html};

/// Column of a table, with its heading.
pub(super) enum Column {
    Text(&'static str),
    /// Aligned to the right.
    Number(&'static str),
}

/// Renders a section with a heading.
pub(super) fn panel(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section.panel aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (content)
        }
    }
}

/// Renders a table that scrolls in a narrow window. The heading with this ID names it.
pub(super) fn table(heading: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-labelledby=(heading) tabindex="0" {
            table {
                thead {
                    tr {
                        @for column in columns {
                            @match column {
                                Column::Text(name) => { th scope="col" { (name) } }
                                Column::Number(name) => { th.number scope="col" { (name) } }
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}
