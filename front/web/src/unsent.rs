//! A text that could not be taken just now: it comes back with the refusal, to be sent again or copied, also without a script.

use madang_article::{CONTENT_MAX_CHARS, TITLE_MAX_CHARS};
use maud::{Markup, html};

use crate::form::{Line, Problems, area};
use crate::posted::Posted;

/// Lines of the field that a text comes back in.
const ROWS: u32 = 10;

/// The form with what was typed, if it was a text; passwords are never sent back.
pub(crate) fn unsent(posted: &Posted) -> Option<Markup> {
    let (t, fields) = (posted.visit.texts(), &posted.fields);
    let content = fields.lines("content");
    if content.is_empty() {
        return None;
    }
    let (title, problems) = (fields.text("title"), Problems::default());
    let title = Line { name: "title", label: t.title, value: title, max_chars: TITLE_MAX_CHARS, ..Line::default() };
    let others = fields.iter().filter(|(name, _)| !matches!(*name, "title" | "content") && !name.contains("password"));
    Some(html! {
        form.write method="post" action=(posted.action) {
            @for (name, value) in others { input type="hidden" name=(name) value=(value); }
            @if !title.value.is_empty() { (title.show(&problems)) }
            (area("content", t.text, &content, ROWS, CONTENT_MAX_CHARS, &problems))
            p.buttons { button.button.strong { (t.publish) } }
        }
    })
}
