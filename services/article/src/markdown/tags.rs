//! HTML whose cleaned form is known without the cleaner: nothing but text, well-nested tags without attributes, and links
//! to plain web addresses. Most articles are, and telling so takes a tenth of the time that building and walking a
//! document tree does.

use super::LINK_REL;

/// Tags that may hold others or text; void ones are told apart by their spelling.
const PAIRED: [&str; 16] =
    ["p", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"];
/// Deeper than any text is shown.
const DEPTH_MAX: usize = 64;

/// What the cleaner would make of the parser's output, told without it; `None` when only the cleaner can tell. A property
/// test compares both.
pub(super) fn pass(html: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::with_capacity(8);
    let mut passed = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(|char| !is_text(char)) {
        passed.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = match rest.as_bytes()[0] {
            b'<' => pass_tag(rest, &mut open, &mut passed)?,
            b'&' => pass_entity(rest, &mut passed)?,
            _ => return None,
        };
    }
    passed.push_str(rest);
    open.is_empty().then_some(passed)
}

/// Neither markup nor a character that the cleaner writes in another way.
fn is_text(char: char) -> bool {
    match char {
        '<' | '>' | '&' | '\u{a0}' | '\u{feff}' => false,
        '\n' | '\t' => true,
        _ => !char.is_control(),
    }
}

fn pass_tag<'a>(rest: &'a str, open: &mut Vec<&'a str>, passed: &mut String) -> Option<&'a str> {
    let (tag, after) = rest[1..].split_once('>')?;
    match tag {
        "br /" => passed.push_str("<br>"),
        "hr /" => passed.push_str("<hr>"),
        _ if tag.starts_with("a ") => {
            let address = tag.strip_prefix("a href=\"")?.strip_suffix('"')?;
            // A link within a link is taken apart.
            if !is_plain_address(address) || open.contains(&"a") || open.len() >= DEPTH_MAX {
                return None;
            }
            open.push("a");
            passed.push_str("<a href=\"");
            passed.push_str(address);
            passed.push_str("\" rel=\"");
            passed.push_str(LINK_REL);
            passed.push_str("\">");
        }
        "pre tabindex=\"0\"" if open.len() < DEPTH_MAX => {
            open.push("pre");
            passed.push_str("<pre tabindex=\"0\">");
        }
        _ => {
            match tag.strip_prefix('/') {
                Some(name) => (open.pop()? == name).then_some(())?,
                None if PAIRED.contains(&tag) && open.len() < DEPTH_MAX => open.push(tag),
                None => return None,
            }
            passed.push('<');
            passed.push_str(tag);
            passed.push('>');
        }
    }
    Some(after)
}

/// An address that any reader of addresses takes as it is written: a host of ASCII letters, digits and `-` that ends in a
/// name, and a path without anything escaped or quoted.
fn is_plain_address(address: &str) -> bool {
    let Some(rest) = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")) else { return false };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with(['-', 'x'])
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let ends_in_a_name = host.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_lowercase()));
    host.len() <= 253
        && ends_in_a_name
        && host.split('.').all(is_label)
        && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~?=#+,;:@!".contains(&byte))
}

fn pass_entity<'a>(rest: &'a str, passed: &mut String) -> Option<&'a str> {
    for (entity, written) in [("&quot;", "\""), ("&amp;", "&amp;"), ("&lt;", "&lt;"), ("&gt;", "&gt;")] {
        if let Some(after) = rest.strip_prefix(entity) {
            passed.push_str(written);
            return Some(after);
        }
    }
    None
}
