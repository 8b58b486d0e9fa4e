//! Markdown to HTML that is safe to show: CommonMark with tables, strikethrough and bare links, then cleaned. Rendered
//! once per version of an article and once per comment, on text that strangers write, so depth, work and size are all
//! bounded: size by the text itself, because a small text that becomes a large page is paid for by every reader.

mod nesting;
mod plain;
mod renderer;
mod tags;

use std::collections::HashSet;
use std::fmt;
use std::panic::catch_unwind;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use comrak::{Arena, Options, format_html, parse_document};

use crate::CONTENT_MAX_CHARS;

pub use renderer::Markdown;

/// How deep quotes, lists, emphasis and links are shown within one another; what is deeper moves up.
pub const NESTING_MAX: usize = 20;
/// The most HTML that any text becomes; see [`html_max_bytes`].
pub const HTML_MAX_BYTES: usize = 256 * 1_024;
/// HTML for each byte of a text: what people write becomes two or three.
const HTML_BYTES_PER_BYTE: usize = 8;
/// HTML that a text may become however short it is.
const HTML_ALLOWANCE_BYTES: usize = 4 * 1_024;
// Whatever a text says, showing it as written fits: no byte of it becomes longer than these.
const _: () = assert!(CONTENT_MAX_CHARS * "&amp;".len() + 64 <= HTML_MAX_BYTES && "<br>\n".len() <= "&amp;".len());
const _: () = assert!("&amp;".len() <= HTML_BYTES_PER_BYTE && 64 <= HTML_ALLOWANCE_BYTES);
/// What links that strangers write say of themselves.
const LINK_REL: &str = "nofollow ugc noopener";
/// The least that a cell of a table is rendered as.
const CELL_BYTES: usize = "<td></td>\n".len();

/// The most HTML that a text becomes, by its length; what would exceed it is shown as it was written.
pub const fn html_max_bytes(text: &str) -> usize {
    let bound = HTML_BYTES_PER_BYTE * text.len() + HTML_ALLOWANCE_BYTES;
    if bound < HTML_MAX_BYTES { bound } else { HTML_MAX_BYTES }
}

/// The HTML of a Markdown text. Any text gives HTML; line breaks are kept, raw HTML in it is shown as text, images become
/// links, and characters that no document may hold are left out.
pub fn render(text: &str) -> String {
    plain::render_paragraphs(text).unwrap_or_else(|| render_markdown(&plain::without_controls(text)))
}

fn render_markdown(text: &str) -> String {
    // The parser is not ours and reads hostile text: a defect in it must not cost a writer their article.
    match catch_unwind(|| parse_and_clean(text)) {
        Ok(Some(html)) => html,
        Ok(None) => plain::render_verbatim(text),
        Err(_) => {
            tracing::error!(
                text_bytes = text.len(),
                "the Markdown parser panicked, the text is shown as it was written"
            );
            plain::render_verbatim(text)
        }
    }
}

/// `None` when the HTML would be too large.
fn parse_and_clean(text: &str) -> Option<String> {
    static WITH_TABLES: LazyLock<Options<'static>> = LazyLock::new(|| options(true));
    static WITHOUT_TABLES: LazyLock<Options<'static>> = LazyLock::new(|| options(false));

    let max_bytes = html_max_bytes(text);
    // Short rows are filled up to the width of their table, so a small text could ask for millions of cells. Those that
    // cannot fit the bound are not even parsed.
    let tables_fit = table_cells(text).saturating_mul(CELL_BYTES) <= max_bytes;
    let options = if tables_fit { &WITH_TABLES } else { &WITHOUT_TABLES };
    let arena = Arena::new();
    let root = parse_document(&arena, text, options);
    nesting::cap(&arena, root);
    let mut html = Bounded { html: String::with_capacity(text.len() * 2), max_bytes };
    format_html(root, options, &mut html).ok()?;
    let html = modern(html.html);
    let cleaned = tags::pass(&html).unwrap_or_else(|| clean(&html));
    (cleaned.len() <= max_bytes).then_some(cleaned)
}

/// The parser's HTML with what it cannot be asked for: what is wider than a page is scrolled, by keyboard too, and columns
/// are aligned without an attribute that HTML gave up. The parser escapes whatever people write, so these are its tags.
fn modern(html: String) -> String {
    if !html.contains("<pre>") && !html.contains("<table>") {
        return html;
    }
    let focusable = html.replace("<pre>", "<pre tabindex=\"0\">").replace("<table>", "<table tabindex=\"0\">");
    focusable.replace("<td align=\"", "<td class=\"").replace("<th align=\"", "<th class=\"")
}

fn clean(html: &str) -> String {
    static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(cleaner);
    CLEANER.clean(html).to_string()
}

/// A string that refuses to grow past its bound, so that rendering stops there.
struct Bounded {
    html: String,
    max_bytes: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.html.len() + part.len() > self.max_bytes {
            return Err(fmt::Error);
        }
        self.html.push_str(part);
        Ok(())
    }
}

fn options(tables: bool) -> Options<'static> {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.table = tables;
    // Korean, Chinese and Japanese put no space after emphasis: **마당**은.
    options.extension.cjk_friendly_emphasis = true;
    options.render.escape = true;
    // Whoever starts a new line means one.
    options.render.hardbreaks = true;
    options
}

fn cleaner() -> Builder<'static> {
    const TAGS: [&str; 25] = [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ];
    const ALIGNED: [&str; 3] = ["left", "center", "right"];
    let attributes =
        [("a", ["href", "title"].as_slice()), ("ol", &["start"]), ("pre", &["tabindex"]), ("table", &["tabindex"])];
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.into_iter().collect())
        .tag_attributes(attributes.map(|(tag, names)| (tag, names.iter().copied().collect())).into())
        .generic_attributes(HashSet::new())
        .allowed_classes(["td", "th"].map(|tag| (tag, ALIGNED.into())).into())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some(LINK_REL));
    builder
}

/// At most so many cells can the tables of a text be rendered as. A table ends at a blank line, and each of its rows is as
/// wide as its widest.
fn table_cells(text: &str) -> usize {
    let (mut cells, mut lines, mut widest) = (0usize, 0usize, 0usize);
    for line in text.split(['\n', '\r']) {
        if line.bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
            cells = cells.saturating_add(cells_of(lines, widest));
            (lines, widest) = (0, 0);
        } else {
            lines += 1;
            widest = widest.max(line.bytes().filter(|byte| *byte == b'|').count());
        }
    }
    cells.saturating_add(cells_of(lines, widest))
}

fn cells_of(lines: usize, pipes: usize) -> usize {
    if pipes == 0 { 0 } else { lines.saturating_mul(pipes + 1) }
}

#[cfg(test)]
mod tests;
