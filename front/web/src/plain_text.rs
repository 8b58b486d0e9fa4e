//! Text of people in places where markup cannot isolate it: titles of windows, attributes, feeds.

/// A description for those who link here is not longer.
pub(crate) const DESCRIPTION_CHARS_MAX: usize = 160;

/// A title outside of its page, of a window or in a feed, is not longer.
const TITLE_CHARS_MAX: usize = 120;

/// A title in one line, at most so long as windows and feeds show it.
pub(crate) fn title(text: &str) -> String {
    plain(text, TITLE_CHARS_MAX)
}

/// What a reader of rendered Markdown sees, in one line: text without its tags, at most so long.
pub(crate) fn excerpt(html: &str, max_chars: usize) -> String {
    let (mut words, mut rest) = (String::new(), html);
    // Tags and entities are longer than what is shown of them; past this nothing can be shown any more.
    while !rest.is_empty() && words.chars().nth(2 * max_chars).is_none() {
        let end = rest.find(['<', '&']).unwrap_or(rest.len());
        words.push_str(&rest[..end]);
        rest = &rest[end..];
        rest = match rest.as_bytes().first() {
            Some(b'<') => {
                // Blocks and breaks stand apart; words with a tag inside stay one.
                if ["<br", "<p", "<li", "<h", "<td", "<th", "</"].iter().any(|tag| rest.starts_with(tag)) {
                    words.push_str(if is_inline_end(rest) { "" } else { " " });
                }
                rest.split_once('>').map_or("", |(_, after)| after)
            }
            Some(_) => entity(rest, &mut words),
            None => rest,
        };
    }
    let line: Vec<_> = words.split_whitespace().collect();
    plain(&line.join(" "), max_chars)
}

fn is_inline_end(rest: &str) -> bool {
    ["</a>", "</em>", "</strong>", "</del>", "</code>"].iter().any(|tag| rest.starts_with(tag))
}

/// Takes one of the entities that a cleaned text is written with.
fn entity<'a>(rest: &'a str, words: &mut String) -> &'a str {
    const KNOWN: [(&str, char); 5] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&nbsp;", ' ')];
    for (name, char) in KNOWN {
        if let Some(after) = rest.strip_prefix(name) {
            words.push(char);
            return after;
        }
    }
    words.push('&');
    &rest[1..]
}

/// The text without characters that turn the direction of what follows or cannot be seen, at most so long.
pub(crate) fn plain(text: &str, max_chars: usize) -> String {
    let visible = text.chars().map(|char| if char.is_control() { ' ' } else { char }).filter(|char| !is_turning(*char));
    let mut plain: String = visible.take(max_chars + 1).collect();
    if plain.chars().count() > max_chars {
        plain = plain.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect();
    }
    plain
}

fn is_turning(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_turns_the_direction_of_what_follows() {
        assert_eq!(plain("a\u{202e}b\u{2066}\nc", 10), "ab c");
    }

    #[test]
    fn an_excerpt_shows_what_a_reader_sees() {
        let html = "<h1>Title</h1>\n<p>Some <strong>bo</strong>ld &amp; <a href=\"https://a\" rel=\"x\">link</a>,<br>\nnext</p>\n";
        assert_eq!(excerpt(html, 100), "Title Some bold & link, next");
        assert_eq!(excerpt(html, 8), "Title S…");
        assert_eq!(excerpt("<p>&lt;b&gt; &amp;amp;</p>", 100), "<b> &amp;");
        assert_eq!(excerpt("", 10), "");
        assert_eq!(excerpt("a < b & c", 20), "a");
    }

    #[test]
    fn long_text_ends_with_dots() {
        assert_eq!(plain("마당마당", 4), "마당마당");
        assert_eq!(plain("마당마당마", 4), "마당마…");
    }
}
