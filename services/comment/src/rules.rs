//! What a comment may contain. A value of this type has passed the rule.

use madang_board::text::{is_blank, longer_than};
use madang_kernel::Invalid;

/// The longest text of a comment, in Unicode scalar values.
pub const CONTENT_MAX_CHARS: usize = 3_000;

/// The text of a comment: 1 to 3,000 characters, kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(String);

impl Content {
    /// Checks a text.
    pub fn new(text: String) -> Result<Self, Invalid> {
        if is_blank(&text) {
            Err(Invalid::field("content", "must not be blank"))
        } else if longer_than(&text, CONTENT_MAX_CHARS) {
            Err(Invalid::field("content", format!("must have at most {CONTENT_MAX_CHARS} characters")))
        } else if text.contains('\0') {
            Err(Invalid::field("content", "must not contain NUL characters"))
        } else {
            Ok(Self(text))
        }
    }

    /// The text as written.
    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_visible_bounded_and_kept_as_written() {
        assert_eq!(Content::new(" a\n".into()).unwrap().into_string(), " a\n");
        assert!(Content::new("😀".repeat(3_000)).is_ok());
        let too_long = "😀".repeat(3_001);
        for text in ["", " \n", "\u{200b}", "a\0", too_long.as_str()] {
            assert!(Content::new(text.into()).is_err(), "{} bytes", text.len());
        }
    }
}
