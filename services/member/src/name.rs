//! What members may be called: letters of any script, digits and `_`; and which names count as the same one.

use madang_kernel::FieldError;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The shortest name, in Unicode scalar values.
pub const NAME_MIN_CHARS: usize = 2;
/// The longest name, in Unicode scalar values.
pub const NAME_MAX_CHARS: usize = 32;
/// No name that could be accepted is longer before it is composed; checked before any work is done on it.
const NAME_INPUT_MAX_BYTES: usize = 1_024;
/// Marks on one letter; Vietnamese needs two before composition, a tower of them is mischief.
const MARKS_MAX: usize = 3;

/// A name that passed the rules, composed (NFC), so that it is stored and shown in one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberName(String);

impl MemberName {
    /// Composes and checks a name.
    pub fn new(text: &str) -> Result<Self, FieldError> {
        let wrong = |message: String| FieldError { field: "name", message };
        let length = || wrong(format!("must have {NAME_MIN_CHARS} to {NAME_MAX_CHARS} characters"));
        if text.len() > NAME_INPUT_MAX_BYTES {
            return Err(length());
        }
        let name: String = text.nfc().collect();
        if !(NAME_MIN_CHARS..=NAME_MAX_CHARS).contains(&name.chars().count()) {
            return Err(length());
        }
        if !has_allowed_characters(&name) {
            return Err(wrong("may contain only letters, digits and _".into()));
        }
        Ok(Self(name))
    }

    /// The name as shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as shown.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The name for comparison: compatible forms and cases folded, so that `Ａnna` cannot pose as `anna`.
    pub fn key(&self) -> String {
        // Up and down again folds what lowering alone leaves apart: ς and σ, ß and ss.
        self.0.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
    }
}

/// The key of whatever somebody typed as a name: that of the account it leads to. What cannot be a name leads to none, and all
/// of it has one key.
pub fn name_key(text: &str) -> String {
    MemberName::new(text).map(|name| name.key()).unwrap_or_default()
}

fn has_allowed_characters(name: &str) -> bool {
    let mut marks_left = 0;
    name.chars().all(|char| {
        if is_combining_mark(char) {
            // Spacing vowel signs are letters of their own in Indic scripts, and still need a letter before them.
            let belongs = marks_left > 0;
            marks_left = usize::saturating_sub(marks_left, 1);
            return belongs;
        }
        let letter = char.is_alphabetic() && !is_filler(char);
        marks_left = if letter { MARKS_MAX } else { 0 };
        letter || char.is_numeric() || char == '_'
    })
}

/// Hangul fillers count as letters and show nothing.
fn is_filler(char: char) -> bool {
    matches!(char, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> String {
        MemberName::new(text).unwrap().key()
    }

    #[test]
    fn letters_of_any_script_digits_and_underscores_are_names() {
        for name in ["ab", "마당", "Zoë_7", "李雷", "Иван", "٣٤", "हिन्दी", "ไทยดี", "tiếng", &"가".repeat(32)]
        {
            assert!(MemberName::new(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let (too_long, huge) = ("가".repeat(33), "a".repeat(1_000_000));
        let tower = format!("a{}b", "\u{316}".repeat(8));
        let texts = [
            "",
            "a",
            " ab",
            "ab ",
            "a b",
            "a-b",
            "a.b",
            "<b>",
            "a\0",
            "a\u{200b}b",
            "a\u{202e}b",
            "😀😀",
            "\u{3164}\u{3164}",
            "\u{301}ab",
            "1\u{301}",
            &tower,
            &too_long,
            &huge,
        ];
        for name in texts {
            assert!(MemberName::new(name).is_err(), "{:?}", &name[..name.len().min(40)]);
        }
    }

    #[test]
    fn spellings_of_one_name_have_one_key() {
        for (one, other) in [
            ("Anna", "aNNA"),
            ("Zoë", "Zoe\u{308}"),
            ("Ａnna", "anna"),
            ("마당", "마당"),
            ("ΟΔΟΣ", "οδος"),
            ("STRASSE", "straße"),
            ("ﬁsh", "fish"),
        ] {
            assert_eq!(key(one), key(other));
        }
        assert_ne!(key("anna"), key("anna_"));
        assert_eq!(MemberName::new("Zoe\u{308}").unwrap().as_str(), "Zoë");
    }

    #[test]
    fn what_cannot_be_a_name_has_one_key_which_no_name_has() {
        assert_eq!(name_key("ＲOOT"), key("root"));
        assert_eq!((name_key("a b"), name_key("\u{202e}")), (String::new(), String::new()));
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "(?s).{0,40}") {
            if let Ok(name) = MemberName::new(&text) {
                prop_assert!(!name.key().is_empty());
                prop_assert_eq!(MemberName::new(name.as_str()).unwrap(), name, "a name stays as it is");
            }
        }
    }
}
