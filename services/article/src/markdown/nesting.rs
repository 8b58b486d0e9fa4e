//! Keeps nesting shallow: before parsing, because a line of ten thousand `>` makes a parser slow; and after it, because
//! emphasis and indentation nest too, and whoever shows the HTML should not meet a tree of a thousand levels.

use std::borrow::Cow;

use comrak::Node;
use comrak::nodes::NodeValue;

use super::NESTING_MAX;

/// Escapes, in each line, the first quote or list marker past [`NESTING_MAX`], so that it and what follows are text.
pub(super) fn cap_lines(text: &str) -> Cow<'_, str> {
    let mut capped = String::new();
    let mut copied = 0;
    let mut line_start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        if let Some(marker) = excess_marker(line.as_bytes()) {
            capped.push_str(&text[copied..line_start + marker]);
            capped.push('\\');
            copied = line_start + marker;
        }
        line_start += line.len();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    capped.push_str(&text[copied..]);
    Cow::Owned(capped)
}

/// Where in the line the character stands that makes it nest too deep.
fn excess_marker(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    for _ in 0..NESTING_MAX {
        at += blanks(&line[at..]);
        at += marker(&line[at..])?.len;
    }
    at += blanks(&line[at..]);
    Some(at + marker(&line[at..])?.escape_at)
}

struct Marker {
    /// The character to escape.
    escape_at: usize,
    len: usize,
}

/// The quote or list marker at the start of `rest`.
fn marker(rest: &[u8]) -> Option<Marker> {
    let ends = |at: usize| rest.get(at).is_none_or(u8::is_ascii_whitespace);
    match rest.first()? {
        b'>' => Some(Marker { escape_at: 0, len: 1 }),
        b'-' | b'*' | b'+' if ends(1) && !is_thematic_break(rest) => Some(Marker { escape_at: 0, len: 1 }),
        b'0'..=b'9' => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let delimited = matches!(rest.get(digits), Some(b'.' | b')')) && ends(digits + 1);
            delimited.then_some(Marker { escape_at: digits, len: digits + 1 })
        }
        _ => None,
    }
}

fn blanks(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// `- - - -` is a line across the page, not a list in a list in a list.
fn is_thematic_break(rest: &[u8]) -> bool {
    let ink = || rest.iter().filter(|byte| !byte.is_ascii_whitespace());
    ink().count() >= 3 && ink().all(|byte| Some(byte) == rest.first()) && matches!(rest.first(), Some(b'-' | b'*'))
}

/// Moves up what is nested deeper than [`NESTING_MAX`], and turns images into links to them: readers of a page should
/// not be counted by whoever hosts a picture.
pub(super) fn cap_tree<'a>(root: Node<'a>) {
    let mut pending = vec![Place { node: root, depth: 0, in_link: false }];
    while let Some(Place { node, depth, in_link }) = pending.pop() {
        let mut next = node.first_child();
        while let Some(child) = next {
            let kind = Nesting::of(&child.data.borrow().value);
            let unwraps = match kind {
                Nesting::Leaf => false,
                // A link within a link is no link.
                Nesting::Link | Nesting::Image if in_link => true,
                _ => depth >= NESTING_MAX,
            };
            if unwraps {
                next = unwrap(child);
                continue;
            }
            if let Nesting::Image = kind {
                image_to_link(child);
            }
            if child.first_child().is_some() {
                pending.push(Place {
                    node: child,
                    depth: depth + usize::from(kind.deepens()),
                    in_link: in_link || matches!(kind, Nesting::Link | Nesting::Image),
                });
            }
            next = child.next_sibling();
        }
    }
}

struct Place<'a> {
    node: Node<'a>,
    depth: usize,
    in_link: bool,
}

/// How a node takes part in nesting.
enum Nesting {
    Leaf,
    Container,
    /// Lists go with their items: one without the other is not valid.
    List,
    Link,
    Image,
}

impl Nesting {
    fn of(value: &NodeValue) -> Self {
        match value {
            NodeValue::BlockQuote | NodeValue::Item(_) => Self::Container,
            NodeValue::Emph | NodeValue::Strong | NodeValue::Strikethrough => Self::Container,
            NodeValue::List(_) => Self::List,
            NodeValue::Link(_) => Self::Link,
            NodeValue::Image(_) => Self::Image,
            _ => Self::Leaf,
        }
    }

    fn deepens(&self) -> bool {
        matches!(self, Self::Container | Self::Link | Self::Image)
    }
}

/// Puts a node's children in its place; returns where to go on.
fn unwrap<'a>(node: Node<'a>) -> Option<Node<'a>> {
    let first = node.first_child();
    while let Some(child) = node.first_child() {
        node.insert_before(child);
    }
    let next = first.or_else(|| node.next_sibling());
    node.detach();
    next
}

fn image_to_link(node: Node<'_>) {
    let mut data = node.data.borrow_mut();
    if let NodeValue::Image(link) = &mut data.value {
        let link = std::mem::take(link);
        data.value = NodeValue::Link(link);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_lines_are_left_alone() {
        let rule = format!("{}\n> {}", "- ".repeat(40), "* ".repeat(40));
        for text in ["", "a", "> > quote\n- list\n  1. item", &rule, &">".repeat(20), &"- ".repeat(20)] {
            assert!(matches!(cap_lines(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn the_first_marker_past_the_cap_is_escaped() {
        assert_eq!(cap_lines(&">".repeat(30)), format!("{}\\{}", ">".repeat(20), ">".repeat(10)));
        assert_eq!(cap_lines(&format!("a\n{}b\nc", "- ".repeat(21))), format!("a\n{}\\- b\nc", "- ".repeat(20)));
        assert_eq!(cap_lines(&"1. ".repeat(21)), format!("{}1\\. ", "1. ".repeat(20)));
    }
}
