//! What texts of people have in common, whoever owns them: when they are too long, when there is nothing to see, and that
//! they are rendered once, when they are written.

use async_trait::async_trait;

/// Makes HTML that is safe to show of what people write. One place renders all of it; who owns a text stores its HTML with
/// it. Any text gives HTML, which is bounded by the text.
#[async_trait]
pub trait TextRenderer: Send + Sync {
    /// The HTML of a text.
    async fn html(&self, text: &str) -> String;
}

/// Whether a text has more than `max_chars` Unicode scalar values. Stops counting one past the limit, so that a huge text
/// costs no more than a long one.
pub fn longer_than(text: &str, max_chars: usize) -> bool {
    text.chars().nth(max_chars).is_some()
}

/// Whether a reader would see nothing at all: spaces, controls and the characters that have no width or ink.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|char| {
        char.is_whitespace()
            || char.is_control()
            || matches!(char,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
    })
}

/// Whether no document may hold this character: controls other than tab and line ends, and non-characters.
pub fn is_forbidden(char: char) -> bool {
    (char.is_control() && !matches!(char, '\t' | '\n' | '\r'))
        || matches!(char, '\u{fdd0}'..='\u{fdef}')
        || u32::from(char) & 0xfffe == 0xfffe
}
