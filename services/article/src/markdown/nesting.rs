//! Keeps nesting shallow. Quotes, lists, emphasis and links nest as deep as a text is long; the parser takes that in its
//! stride, but the cleaner and whoever shows the HTML should not meet a tree of ten thousand levels.

use comrak::nodes::NodeValue;
use comrak::{Arena, Node};
use madang_board::text::is_blank;

use super::NESTING_MAX;

/// Moves up what is nested deeper than [`NESTING_MAX`], and turns images into links to them: readers of a page should
/// not be counted by whoever hosts a picture. A link that nobody would see shows its address.
pub(super) fn cap<'a>(arena: &'a Arena<'a>, root: Node<'a>) {
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
            if matches!(kind, Nesting::Link | Nesting::Image) && shows_nothing(child) {
                show_address(arena, child);
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

/// Whether a link has no text at all. Links do not nest, so no node is looked at for two of them.
fn shows_nothing(link: Node<'_>) -> bool {
    link.descendants().all(|node| match &node.data.borrow().value {
        NodeValue::Text(text) => is_blank(text),
        NodeValue::Code(code) => is_blank(&code.literal),
        NodeValue::HtmlInline(html) => is_blank(html),
        _ => true,
    })
}

fn show_address<'a>(arena: &'a Arena<'a>, link: Node<'a>) {
    let address = match &link.data.borrow().value {
        NodeValue::Link(link) => link.url.clone(),
        _ => return,
    };
    link.append(arena.alloc(NodeValue::Text(address.into()).into()));
}
