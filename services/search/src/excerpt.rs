//! What is shown of a hit: the words around the first place that was asked for, as HTML in which only `<mark>` is markup.
//! Made from the text as its owner has it now, and escaped once, here.

use crate::Query;
use crate::analysis::{composed, tokens};
use crate::query::places;

/// The longest excerpt.
pub const EXCERPT_MAX_CHARS: usize = 200;
/// What is shown before the first place that was asked for.
const LEAD_CHARS: usize = 40;
/// Of a huge text, as much is looked through.
const LOOKED_AT_MAX_BYTES: usize = 128 * 1_024;

/// What a reader of rendered Markdown sees, in one line: text without its tags. `html` is our own, cleaned when it was
/// rendered, so tags and entities are what the renderer writes.
pub fn plain(html: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(html.len()), html);
    loop {
        let end = rest.find(['<', '&']).unwrap_or(rest.len());
        push_visible(&mut text, &rest[..end]);
        rest = &rest[end..];
        rest = match rest.as_bytes().first() {
            Some(b'<') => {
                let (tag, after) = rest.split_once('>').unwrap_or((rest, ""));
                if !is_inline(tag) {
                    push_space(&mut text);
                }
                after
            }
            Some(_) => entity(rest, &mut text),
            None => break,
        };
    }
    text.truncate(text.trim_end().len());
    text
}

/// Tags inside of words; all others stand between them.
fn is_inline(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']);
    let name = name.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
    matches!(name, "a" | "em" | "strong" | "del" | "code" | "b" | "i" | "sup" | "sub" | "span")
}

fn entity<'a>(rest: &'a str, text: &mut String) -> &'a str {
    const KNOWN: [(&str, &str); 6] =
        [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " ")];
    for (name, char) in KNOWN {
        if let Some(after) = rest.strip_prefix(name) {
            push_visible(text, char);
            return after;
        }
    }
    text.push('&');
    &rest[1..]
}

/// Spaces become one; what turns the direction of the page around it, or cannot be seen, is left out.
fn push_visible(text: &mut String, part: &str) {
    for char in part.chars() {
        match char {
            _ if char.is_whitespace() || char.is_control() => push_space(text),
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            _ => text.push(char),
        }
    }
}

fn push_space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

/// A short text as a whole, with what was asked for marked.
pub fn marked(query: &Query, text: &str) -> String {
    let text = composed(text);
    let places = places(query, &tokens(&text));
    with_marks(&text, (0, text.len()), &places)
}

/// The part of a text around the first place that was asked for, marked; its beginning when there is none.
pub fn excerpt(query: &Query, text: &str) -> String {
    let text = composed(&text[..text.floor_char_boundary(LOOKED_AT_MAX_BYTES)]).into_owned();
    let places = places(query, &tokens(&text));
    let first = places.first().map_or(0, |place| place.0);
    let start = lead(&text, first);
    let end = text[start..].char_indices().nth(EXCERPT_MAX_CHARS).map_or(text.len(), |(at, _)| start + at);
    let mut html = String::new();
    if start > 0 {
        html.push('…');
    }
    html.push_str(&with_marks(&text, (start, end), &places));
    if end < text.len() {
        html.push('…');
    }
    html
}

/// Where an excerpt begins: some characters before the place, at the beginning of a word if there is one.
fn lead(text: &str, first: usize) -> usize {
    let before = &text[..first];
    let Some((from, _)) = before.char_indices().rev().nth(LEAD_CHARS) else { return 0 };
    before[from..].find(' ').map_or(from, |space| from + space + 1)
}

fn with_marks(text: &str, (from, to): (usize, usize), places: &[(usize, usize)]) -> String {
    let mut html = String::with_capacity((to - from) * 5 / 4);
    let mut at = from;
    for (start, end) in places {
        let (start, end) = ((*start).max(at), (*end).min(to));
        if start >= end {
            continue;
        }
        escape(&mut html, &text[at..start]);
        html.push_str("<mark>");
        escape(&mut html, &text[start..end]);
        html.push_str("</mark>");
        at = end;
    }
    escape(&mut html, &text[at..to]);
    html
}

fn escape(html: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(char),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(typed: &str) -> Query {
        Query::parse(typed).unwrap()
    }

    #[test]
    fn tags_go_and_words_stay() {
        assert_eq!(plain("<p>대<strong>학</strong>교</p>\n<p>축제 &lt;b&gt; &amp;amp;</p>\n"), "대학교 축제 <b> &amp;");
        assert_eq!(plain("<ul><li>one</li><li>two</li></ul>a<br>b"), "one two a b");
        assert_eq!(plain("x\u{202e}y &bogus; &"), "xy &bogus; &");
    }

    #[test]
    fn what_was_asked_for_is_marked_and_the_rest_escaped() {
        assert_eq!(marked(&query("학교"), "<i>대학교 & 학교"), "&lt;i&gt;대<mark>학교</mark> &amp; <mark>학교</mark>");
        assert_eq!(
            excerpt(&query("<script>"), "a <script>alert(1)</script>"),
            "a &lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt;"
        );
    }

    #[test]
    fn an_excerpt_begins_a_little_before_the_first_place() {
        let text = format!("{} 축제 {}", "가나 ".repeat(100), "다라 ".repeat(200));
        let html = excerpt(&query("축제"), &text);
        assert!(html.starts_with("…가나") && html.ends_with('…') && html.contains("<mark>축제</mark>"), "{html}");
        assert!(html.chars().count() < EXCERPT_MAX_CHARS + 20);
        assert_eq!(excerpt(&query("없다"), "짧은 글"), "짧은 글");
    }

    proptest! {
        #[test]
        fn any_text_and_any_query_give_only_marks_as_markup(typed in "[가-힣a-z<>&\"' ]{1,20}", text in any::<String>()) {
            let Ok(query) = Query::parse(&typed) else { return Ok(()) };
            for html in [excerpt(&query, &text), marked(&query, &text), excerpt(&query, &plain(&text))] {
                let bare = html.replace("<mark>", "").replace("</mark>", "");
                prop_assert!(!bare.contains(['<', '>', '"', '\'']), "{}", html);
                prop_assert_eq!(html.matches("<mark>").count(), html.matches("</mark>").count());
            }
        }
    }
}
