//! Fields of forms with their labels, hints and what is wrong with them, tied together for those who do not see the page.

use madang_kernel::Invalid;
use maud::{Markup, html};

use crate::preferences::Lang;
use crate::rule_texts;
use crate::visit::Visit;

/// What is wrong with a form as it came back.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// With the form as a whole.
    pub(crate) whole: Option<String>,
    fields: Vec<(&'static str, String)>,
}

/// The id of a field on its page.
fn field_id(name: &str) -> String {
    format!("f-{name}")
}

/// A field of one line.
pub(crate) struct Line<'a> {
    pub(crate) name: &'static str,
    pub(crate) label: &'a str,
    pub(crate) hint: Option<&'a str>,
    pub(crate) value: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) autocomplete: &'static str,
    pub(crate) max_chars: usize,
    pub(crate) is_required: bool,
}

impl Default for Line<'_> {
    fn default() -> Self {
        Self {
            name: "",
            label: "",
            hint: None,
            value: "",
            kind: "text",
            autocomplete: "off",
            max_chars: 100,
            is_required: true,
        }
    }
}

impl Problems {
    /// One thing that is wrong with the whole.
    pub(crate) fn of(message: impl Into<String>) -> Self {
        Self { whole: Some(message.into()), fields: Vec::new() }
    }

    /// One thing that is wrong with one field.
    pub(crate) fn field(name: &'static str, message: impl Into<String>) -> Self {
        Self { whole: None, fields: vec![(name, message.into())] }
    }

    /// What the rules of a service say, in the reader's language.
    pub(crate) fn invalid(lang: Lang, invalid: &Invalid) -> Self {
        let fields = invalid.0.iter().map(|error| (error.field, rule_texts::rule(lang, &error.message)));
        Self { whole: None, fields: fields.collect() }
    }

    /// What is wrong with a field.
    pub(crate) fn about(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, message)| message.as_str())
    }

    /// Everything in one line, for a script.
    pub(crate) fn line(&self, visit: &Visit) -> String {
        let t = visit.texts();
        let fields = self.fields.iter().map(|(name, message)| match t.field(name) {
            Some(label) => format!("{label}{}{message}", between(message)),
            None => message.clone(),
        });
        self.whole.clone().into_iter().chain(fields).collect::<Vec<_>>().join(" · ")
    }

    /// The word at the top of the form, announced when the page comes; each problem leads to its field.
    pub(crate) fn summary(&self, visit: &Visit) -> Markup {
        let t = visit.texts();
        html! {
            @if let Some(whole) = &self.whole { p.problem role="alert" { (whole) } }
            @else if !self.fields.is_empty() {
                div.problem role="alert" {
                    p { (t.form_problem) }
                    ul {
                        @for (name, message) in &self.fields {
                            li {
                                @if let Some(label) = t.field(name) { a href={ "#" (field_id(name)) } { (label) } (between(message)) }
                                (message)
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Line<'_> {
    /// The field with its label.
    pub(crate) fn show(&self, problems: &Problems) -> Markup {
        let (id, wrong) = (field_id(self.name), problems.about(self.name));
        let (hint_id, wrong_id) = (format!("{id}-hint"), format!("{id}-wrong"));
        let described = described(self.hint.map(|_| hint_id.as_str()), wrong.map(|_| wrong_id.as_str()));
        html! {
            div.field {
                label for=(id) { (self.label) }
                input id=(id) name=(self.name) type=(self.kind) value=(self.value) autocomplete=(self.autocomplete)
                    maxlength=(self.max_chars) required[self.is_required]
                    aria-describedby=[described] aria-invalid=[wrong.map(|_| "true")];
                @if let Some(hint) = self.hint { p.hint id=(hint_id) { (hint) } }
                @if let Some(wrong) = wrong { p.wrong id=(wrong_id) { (standing_alone(wrong)) } }
            }
        }
    }
}

/// A field of several lines.
pub(crate) fn area(name: &str, label: &str, value: &str, rows: u32, max_chars: usize, problems: &Problems) -> Markup {
    Area { name, label, value, rows, max_chars, hint: None, is_required: true }.show(problems)
}

/// A field of several lines that may be left empty, or says what it is for.
pub(crate) struct Area<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) value: &'a str,
    pub(crate) rows: u32,
    pub(crate) max_chars: usize,
    pub(crate) hint: Option<&'a str>,
    pub(crate) is_required: bool,
}

impl Area<'_> {
    /// The field with its label.
    pub(crate) fn show(&self, problems: &Problems) -> Markup {
        let Self { name, label, value, rows, max_chars, hint, is_required } = *self;
        let (id, wrong) = (field_id(name), problems.about(name));
        let (hint_id, wrong_id) = (format!("{id}-hint"), format!("{id}-wrong"));
        let described = described(hint.map(|_| hint_id.as_str()), wrong.map(|_| wrong_id.as_str()));
        html! {
            div.field {
                label for=(id) { (label) }
                // A browser drops the first line end inside, so one more is put before it.
                textarea id=(id) name=(name) rows=(rows) maxlength=(max_chars) required[is_required]
                    aria-describedby=[described] aria-invalid=[wrong.map(|_| "true")] {
                    "\n" (value)
                }
                @if let Some(hint) = hint { p.hint id=(hint_id) { (hint) } }
                @if let Some(wrong) = wrong { p.wrong id=(wrong_id) { (standing_alone(wrong)) } }
            }
        }
    }
}

/// A box to tick.
pub(crate) fn tick(name: &str, label: &str, is_ticked: bool) -> Markup {
    let id = field_id(name);
    html! {
        div.field.tick {
            input id=(id) name=(name) type="checkbox" value="yes" checked[is_ticked];
            label for=(id) { (label) }
        }
    }
}

/// What stands between a label and what is wrong: a rule such as "must not be blank" goes on where the label ends, a whole
/// sentence does not.
fn between(message: &str) -> &'static str {
    if message.starts_with(|first: char| first.is_ascii_lowercase()) { " " } else { ": " }
}

/// A rule below its field, without the label before it.
fn standing_alone(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

fn described(hint: Option<&str>, wrong: Option<&str>) -> Option<String> {
    let ids: Vec<_> = hint.into_iter().chain(wrong).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}
