//! What members may be called: letters of any script, digits and `_`; and which names count as the same one.

use madang_kernel::FieldError;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::look_alike::{has_invisible_characters, mixes_scripts, name_skeleton};

/// The shortest name, in Unicode scalar values.
pub const NAME_MIN_CHARS: usize = 2;
/// The longest name, in Unicode scalar values.
pub const NAME_MAX_CHARS: usize = 32;
/// No name that could be accepted is longer before it is composed; checked before any work is done on it.
const NAME_INPUT_MAX_BYTES: usize = 1_024;
/// Characters of a key: of the compatible forms of some ligatures there are eighteen, and what stores keep is bounded.
const NAME_KEY_MAX_CHARS: usize = 4 * NAME_MAX_CHARS;
/// Marks on one letter; Vietnamese needs two before composition, a tower of them is mischief.
const MARKS_MAX: usize = 3;

/// A name that passed the rules, composed (NFC), so that it is stored and shown in one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberName(String);

impl MemberName {
    /// Composes and checks a name that somebody wants to take.
    pub fn new(text: &str) -> Result<Self, FieldError> {
        let name = Self::of_account(text)?;
        if has_invisible_characters(&name.0) {
            return Err(wrong("must not contain invisible characters"));
        }
        if mixes_scripts(&name.0) {
            return Err(wrong("must not mix scripts, such as Latin and Cyrillic letters"));
        }
        if name.key().chars().count() > NAME_KEY_MAX_CHARS {
            return Err(wrong("has too many ligatures"));
        }
        Ok(name)
    }

    /// Composes and checks a name that an account may have: one that is older than a rule of [`MemberName::new`] keeps its.
    pub fn of_account(text: &str) -> Result<Self, FieldError> {
        let length = || wrong(format!("must have {NAME_MIN_CHARS} to {NAME_MAX_CHARS} characters"));
        if text.len() > NAME_INPUT_MAX_BYTES {
            return Err(length());
        }
        let name: String = text.nfc().collect();
        if !(NAME_MIN_CHARS..=NAME_MAX_CHARS).contains(&name.chars().count()) {
            return Err(length());
        }
        if !has_allowed_characters(&name) {
            return Err(wrong("may contain only letters, digits and _"));
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
        folded(&self.0)
    }

    /// What the name looks like: no two members who registered since it is kept have the same.
    pub fn skeleton(&self) -> String {
        name_skeleton(&self.0)
    }
}

/// Without compatible forms and cases.
pub(crate) fn folded(text: &str) -> String {
    // Up and down again folds what lowering alone leaves apart: ς and σ, ß and ss.
    text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
}

fn wrong(message: impl Into<String>) -> FieldError {
    FieldError { field: "name", message: message.into() }
}

/// The key of whatever somebody typed as a name: that of the account it leads to. What cannot be a name leads to none, and all
/// of it has one key.
pub fn name_key(text: &str) -> String {
    MemberName::of_account(text).map(|name| name.key()).unwrap_or_default()
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
    fn nobody_takes_a_name_with_what_cannot_be_seen_or_with_letters_of_two_scripts() {
        let names = [
            "root_admin\u{fe0f}",
            "a\u{34f}b",
            "ann\u{e0100}",
            "ㄱ\u{17b4}",
            "аdmin",
            "Ivаn",
            "ann٣",
            "λambda",
            "안かな",
        ];
        for name in names {
            assert!(MemberName::new(name).is_err(), "{name:?}");
        }
        for name in ["anna마당", "마당李", "Tokyo東京とうきょう", "李ㄅanna", "Иван_7"] {
            assert!(MemberName::new(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn who_took_such_a_name_before_still_signs_in() {
        let taken = "root_admin\u{fe0f}";
        assert!(MemberName::new(taken).is_err());
        assert_eq!(name_key(taken), taken);
        assert_eq!(name_key("аdmin"), "аdmin");
    }

    #[test]
    fn what_is_compared_of_a_name_is_bounded() {
        let ligatures = "\u{fdfa}".repeat(32);
        assert!(MemberName::of_account(&ligatures).unwrap().key().len() > 1_000);
        assert!(MemberName::new(&ligatures).is_err());
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
                prop_assert!(!name.key().is_empty() && !name.skeleton().is_empty());
                prop_assert!(name.key().len() <= 512 && name.skeleton().len() <= 512, "what stores keep is bounded");
                prop_assert_eq!(MemberName::new(name.as_str()).unwrap(), name, "a name stays as it is");
            }
        }
    }
}
