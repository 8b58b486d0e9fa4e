//! Text that needs no Markdown parser: paragraphs without any character that could mean something, which is most of
//! what people write; and text shown exactly as written, when the parser will not do.

use std::borrow::Cow;

use madang_board::text::is_forbidden;

/// The HTML of a text that holds nothing but plain paragraphs: the same as the parser's, many times faster. `None` for
/// any text that might be more; a property test compares both.
pub(super) fn render_paragraphs(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\n');
    if !is_plain(text) {
        return None;
    }
    let mut html = String::with_capacity(text.len() + 64);
    // More than one blank line leaves line breaks around a paragraph, or nothing but them.
    let paragraphs = text.split("\n\n").map(|lines| lines.trim_matches('\n'));
    for paragraph in paragraphs.filter(|lines| !lines.is_empty()) {
        html.push_str("<p>");
        for (number, line) in paragraph.split('\n').enumerate() {
            if number > 0 {
                html.push_str("<br>\n");
            }
            html.push_str(line);
        }
        html.push_str("</p>\n");
    }
    Some(html)
}

/// The text without the characters that HTML forbids: controls other than tab and line ends, and non-characters.
pub(super) fn without_controls(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_forbidden) {
        Cow::Owned(text.chars().filter(|char| !is_forbidden(*char)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether every line starts with a letter, ends without a space, and holds only characters without a meaning there.
fn is_plain(text: &str) -> bool {
    let mut before = '\n';
    for char in text.chars() {
        let allowed = match (before, char) {
            (_, '\n') => before != ' ',
            ('\n', _) => char.is_alphabetic(),
            (_, ' ' | ',' | ';' | '?' | '"' | '\'' | '(' | ')' | '%' | '-' | '=' | '+') => true,
            // `www.` and `://` start links.
            ('w' | 'W', '.') => false,
            (_, '.' | ':') => true,
            (':', '/') => false,
            (_, '/') => true,
            (_, 'a'..='z' | 'A'..='Z' | '0'..='9') => true,
            _ => !char.is_ascii() && is_ink(char),
        };
        if !allowed {
            return false;
        }
        before = char;
    }
    before != '\n' && before != ' '
}

/// Neither space, control nor mark of byte order: those the parser or the cleaner may treat in their own way.
fn is_ink(char: char) -> bool {
    !char.is_whitespace() && !char.is_control() && char != '\u{feff}'
}

/// The text as it was written, line by line, with nothing in it read as Markdown.
pub(super) fn render_verbatim(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 64);
    html.push_str("<p>");
    for char in text.trim_end().chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '\n' => html.push_str("<br>\n"),
            '\0' | '\r' => {}
            _ => html.push(char),
        }
    }
    html.push_str("</p>\n");
    html
}
