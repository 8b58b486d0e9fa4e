//! Characters as the analysis sees them: folded to lower case without accents, and of one of four classes.

use unicode_normalization::char::decompose_canonical;

/// A character after folding, with its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folded {
    pub(super) char: char,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) class: Class,
}

/// What a character does to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Hangul, kana and Han, which are written without spaces or with particles behind a word.
    Ideographic,
    /// Letters and digits of every other script.
    Word,
    /// A picture.
    Emoji,
    /// Spaces, punctuation, signs.
    Between,
}

/// The characters of a composed text, folded; those that nobody sees are left out.
pub(super) fn folded(text: &str) -> Vec<Folded> {
    let mut folded = Vec::with_capacity(text.len() / 2);
    for (start, char) in text.char_indices() {
        let end = start + char.len_utf8();
        let mut push = |char: char| folded.push(Folded { char, start, end, class: class(char) });
        match char {
            _ if char.is_ascii() => push(char.to_ascii_lowercase()),
            _ if is_ideographic(char) => push(char),
            _ if is_unseen(char) => {}
            // The wide forms of ASCII, as Korean and Japanese keyboards type them.
            '\u{ff01}'..='\u{ff5e}' => {
                let narrow = u32::from(char) - 0xff01 + 0x21;
                push(char::from_u32(narrow).unwrap_or(char).to_ascii_lowercase());
            }
            _ => decompose_canonical(char, |part| {
                if !is_accent(part) {
                    part.to_lowercase().filter(|part| !is_accent(*part)).for_each(&mut push);
                }
            }),
        }
    }
    folded
}

fn class(char: char) -> Class {
    if is_ideographic(char) {
        Class::Ideographic
    } else if char.is_alphanumeric() {
        Class::Word
    } else if is_emoji(char) {
        Class::Emoji
    } else {
        Class::Between
    }
}

fn is_ideographic(char: char) -> bool {
    matches!(char,
        // Hangul: syllables, letters on their own, old letters.
        '\u{ac00}'..='\u{d7fb}' | '\u{3131}'..='\u{318e}' | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}'
        // Kana with its marks; the dot between words is no letter.
        | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}'
        // Han, with its repetition marks.
        | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

fn is_emoji(char: char) -> bool {
    matches!(char, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{231a}'..='\u{23ff}')
}

/// Marks above and below letters that people leave out when they search.
fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

/// Joiners, variants and marks without ink: a word with one inside is the same word.
fn is_unseen(char: char) -> bool {
    is_accent(char)
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}
