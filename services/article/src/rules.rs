//! What boards and articles may be called and contain. A value of one of these types has passed its rule; every check
//! names the field, so that a caller learns of all wrong fields at once.

use madang_board::text::{is_blank, longer_than};
use madang_kernel::{FieldError, Invalid};

use crate::{ArticleDraft, BoardDraft, BoardEdit};

/// The longest title of an article or a board, in Unicode scalar values.
pub const TITLE_MAX_CHARS: usize = 100;
/// The longest text of an article, in Unicode scalar values.
pub const CONTENT_MAX_CHARS: usize = 20_000;
/// The longest description of a board, in Unicode scalar values.
pub const DESCRIPTION_MAX_CHARS: usize = 500;
/// The last position that a board can have.
pub const POSITION_MAX: i32 = 1_000_000;
/// The shortest slug.
pub const SLUG_MIN_CHARS: usize = 2;
/// The longest slug.
pub const SLUG_MAX_CHARS: usize = 32;

/// A headline: one line of 1 to 100 characters, without space around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// Trims and checks a title.
    pub fn new(text: &str) -> Result<Self, FieldError> {
        let wrong = |message: String| FieldError { field: "title", message };
        // Space around it counts while it is sent, so that the bound is the one that a client can check.
        let is_long = longer_than(text, TITLE_MAX_CHARS);
        let text = text.trim();
        if is_blank(text) {
            Err(wrong("must not be blank".into()))
        } else if is_long {
            Err(wrong(format!("must have at most {TITLE_MAX_CHARS} characters")))
        } else if text.chars().any(is_line_breaking) {
            Err(wrong("must be one line without control characters".into()))
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// The title as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// The text of an article: 1 to 20,000 characters, kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(String);

impl Content {
    /// Checks a text.
    pub fn new(text: String) -> Result<Self, FieldError> {
        let wrong = |message: String| FieldError { field: "content", message };
        if is_blank(&text) {
            Err(wrong("must not be blank".into()))
        } else if longer_than(&text, CONTENT_MAX_CHARS) {
            Err(wrong(format!("must have at most {CONTENT_MAX_CHARS} characters")))
        } else if text.contains('\0') {
            Err(wrong("must not contain NUL characters".into()))
        } else {
            Ok(Self(text))
        }
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as written.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// A board's short name in addresses: 2 to 32 of a-z, 0-9 and `-`, starting with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    /// Checks a slug; nothing is folded, so that an address has one spelling.
    pub fn new(text: &str) -> Result<Self, FieldError> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (SLUG_MIN_CHARS..=SLUG_MAX_CHARS).contains(&text.len());
        if fits && text.bytes().all(allowed) && !text.starts_with('-') {
            return Ok(Self(text.to_owned()));
        }
        let message = format!(
            "must be {SLUG_MIN_CHARS} to {SLUG_MAX_CHARS} characters of a-z, 0-9 and -, starting with a letter or digit"
        );
        Err(FieldError { field: "slug", message })
    }

    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The slug as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// What a board is about: at most 500 characters of plain text, without space around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description(String);

impl Description {
    /// Trims and checks a description, which may be empty.
    pub fn new(text: &str) -> Result<Self, FieldError> {
        let wrong = |message: String| FieldError { field: "description", message };
        if longer_than(text, DESCRIPTION_MAX_CHARS) {
            return Err(wrong(format!("must have at most {DESCRIPTION_MAX_CHARS} characters")));
        }
        if text.contains('\0') {
            return Err(wrong("must not contain NUL characters".into()));
        }
        let text = text.trim();
        Ok(Self(if is_blank(text) { String::new() } else { text.to_owned() }))
    }

    /// The description as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Where a board stands among the others: 0 to 1,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position(i32);

impl Position {
    /// Checks a position.
    pub fn new(position: i64) -> Result<Self, FieldError> {
        let fits = i32::try_from(position).ok().filter(|position| (0..=POSITION_MAX).contains(position));
        let message = || format!("must be between 0 and {POSITION_MAX}");
        fits.map(Self).ok_or_else(|| FieldError { field: "position", message: message() })
    }

    /// The position as a number.
    pub fn get(self) -> i32 {
        self.0
    }
}

impl ArticleDraft {
    /// The checked parts of the draft, or everything that is wrong with it.
    pub fn check(self) -> Result<(Title, Content), Invalid> {
        both(Title::new(&self.title), Content::new(self.content))
    }
}

impl BoardDraft {
    /// The checked parts of the draft, or everything that is wrong with it.
    pub fn check(&self) -> Result<(Slug, Title), Invalid> {
        both(Slug::new(&self.slug), Title::new(&self.title))
    }
}

impl BoardEdit {
    /// The checked parts of the edit, or everything that is wrong with it.
    pub fn check(&self) -> Result<(Title, Description, Position), Invalid> {
        let checked = (Title::new(&self.title), Description::new(&self.description), Position::new(self.position));
        match checked {
            (Ok(title), Ok(description), Ok(position)) => Ok((title, description, position)),
            (title, description, position) => {
                Err(Invalid([title.err(), description.err(), position.err()].into_iter().flatten().collect()))
            }
        }
    }
}

fn both<A, B>(first: Result<A, FieldError>, second: Result<B, FieldError>) -> Result<(A, B), Invalid> {
    match (first, second) {
        (Ok(first), Ok(second)) => Ok((first, second)),
        (first, second) => Err(Invalid([first.err(), second.err()].into_iter().flatten().collect())),
    }
}

fn is_line_breaking(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommentMode;

    #[test]
    fn lengths_count_characters_not_bytes() {
        assert!(Title::new(&"😀".repeat(100)).is_ok());
        assert!(Title::new(&"😀".repeat(101)).is_err());
        assert!(Content::new("😀".repeat(20_000)).is_ok());
        assert!(Content::new("😀".repeat(20_001)).is_err());
    }

    #[test]
    fn a_title_is_one_trimmed_visible_line() {
        assert_eq!(Title::new("  마당 \n").unwrap().into_string(), "마당");
        assert!(Title::new(&format!("  {}  ", "a".repeat(96))).is_ok());
        assert!(Title::new(&format!("  {}  ", "a".repeat(97))).is_err(), "space around it counts while it is sent");
        for title in ["", " ", "\u{3000}", "\u{200b}\u{200d}", "a\nb", "a\0b", "a\u{7}", "a\u{2028}b"] {
            assert!(Title::new(title).is_err(), "{title:?}");
        }
    }

    #[test]
    fn content_is_kept_as_written() {
        let text = "  # a\n\tb\r\n";
        assert_eq!(Content::new(text.into()).unwrap().as_str(), text);
        for content in ["", " \n\t", "\u{feff}", "a\0b"] {
            assert!(Content::new(content.into()).is_err(), "{content:?}");
        }
    }

    #[test]
    fn slugs_are_short_and_plain() {
        for slug in ["ab", "a-", "0x", "general", "a1-b2-c3", "a-long-slug-of-exactly-32-letter"] {
            assert!(Slug::new(slug).is_ok(), "{slug}");
        }
        let too_long = "a".repeat(33);
        for slug in ["", "a", "-a", "A1", "a_b", "a b", "마당", "ab\n", too_long.as_str()] {
            assert!(Slug::new(slug).is_err(), "{slug:?}");
        }
    }

    #[test]
    fn a_description_may_be_empty_and_has_several_lines() {
        assert_eq!(Description::new(" \u{200b}\n").unwrap().into_string(), "");
        assert_eq!(Description::new(" a\nb ").unwrap().into_string(), "a\nb");
        assert!(Description::new(&"😀".repeat(500)).is_ok());
        assert!(Description::new(&"😀".repeat(501)).is_err() && Description::new("a\0b").is_err());
    }

    #[test]
    fn positions_are_bounded_on_both_sides() {
        assert_eq!(Position::new(i64::from(POSITION_MAX)).unwrap().get(), POSITION_MAX);
        for position in [-1, i64::from(POSITION_MAX) + 1, i64::MAX] {
            assert!(Position::new(position).is_err(), "{position}");
        }
    }

    #[test]
    fn all_wrong_fields_are_reported_at_once() {
        let fields = |invalid: Invalid| invalid.0.into_iter().map(|error| error.field).collect::<Vec<_>>();
        let article = ArticleDraft { title: String::new(), content: String::new() };
        assert_eq!(fields(article.check().unwrap_err()), ["title", "content"]);
        let board = BoardDraft { slug: "?".into(), title: " ".into(), comment_mode: CommentMode::Tree };
        assert_eq!(fields(board.check().unwrap_err()), ["slug", "title"]);
        let edit = BoardEdit { title: " ".into(), description: "\0".into(), position: -1, archived: false };
        assert_eq!(fields(edit.check().unwrap_err()), ["title", "description", "position"]);
    }
}
