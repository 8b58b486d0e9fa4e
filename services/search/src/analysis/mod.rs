//! Text as tokens, the same for what is indexed, what is asked and what is marked. Engines see tokens only, so that no two of
//! them can disagree on what a word is.

mod chars;
mod porter;

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use self::chars::{Class, Folded, folded};
pub use self::porter::stem;

/// A longer word is cut: nobody types it, and an engine would keep it whole.
const WORD_MAX_CHARS: usize = 64;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// As it is indexed: lower case, without accents, stemmed.
    pub text: String,
    /// Where its first character begins in the text, in bytes.
    pub start: usize,
    /// Where its last character ends.
    pub end: usize,
    /// How it came to be.
    pub(crate) origin: Origin,
}

/// What a token was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A word between two characters that are none.
    Word,
    /// Two neighbours in a run of Hangul, kana or Han.
    Pair,
    /// The last character of such a run, which may be its only one.
    Last {
        /// Whether it is.
        alone: bool,
    },
}

/// The text in the form in which all of this works: composed, as most texts are already.
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    }
}

/// The tokens of a [`composed`] text, in order.
///
/// A run of Hangul, kana or Han gives its overlapping pairs and then its last character: so any part of it of two characters or
/// more is a phrase of pairs, and a single character is the beginning of a token, wherever it stands. Everything else gives
/// words, stemmed by Porter's rules where they are English; `C++` and `C#` are words, and so is an emoji.
pub fn tokens(text: &str) -> Vec<Token> {
    let chars = folded(text);
    let mut tokens = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        let end = at + chars[at..].iter().take_while(|next| next.class == first.class).count();
        let run = &chars[at..end];
        at = end;
        match first.class {
            Class::Ideographic => pairs(run, &mut tokens),
            Class::Emoji => tokens.extend(run.iter().map(|one| Token::of(std::slice::from_ref(one), Origin::Word))),
            Class::Word => {
                let signs = signs(run, &chars[end..]);
                at += signs;
                tokens.push(word(&chars[end - run.len()..at], signs));
            }
            Class::Between => {}
        }
    }
    tokens
}

/// Tokens as engines are handed them.
pub fn joined(tokens: &[Token]) -> String {
    let mut text = String::with_capacity(tokens.iter().map(|token| token.text.len() + 1).sum());
    for token in tokens {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

impl Token {
    fn of(chars: &[Folded], origin: Origin) -> Self {
        let (start, end) = (chars.first().map_or(0, |first| first.start), chars.last().map_or(0, |last| last.end));
        Self { text: chars.iter().map(|one| one.char).collect(), start, end, origin }
    }
}

fn pairs(run: &[Folded], tokens: &mut Vec<Token>) {
    tokens.extend(run.windows(2).map(|pair| Token::of(pair, Origin::Pair)));
    let alone = run.len() == 1;
    tokens.extend(run.last().map(|last| Token::of(std::slice::from_ref(last), Origin::Last { alone })));
}

/// How many of the characters after a word belong to it: the signs of `C++` and `C#`, and of what is named like them.
fn signs(word: &[Folded], after: &[Folded]) -> usize {
    if word.len() > 2 || !word.iter().all(|one| one.char.is_ascii_alphabetic()) {
        return 0;
    }
    let is = |at: usize, sign: char| after.get(at).is_some_and(|next| next.char == sign);
    let count = match () {
        () if is(0, '+') && is(1, '+') && !is(2, '+') => 2,
        () if is(0, '#') && !is(1, '#') => 1,
        () => return 0,
    };
    // `a++b` is an expression.
    let ends = after.get(count).is_none_or(|next| !next.char.is_ascii_alphabetic());
    if ends { count } else { 0 }
}

fn word(chars: &[Folded], signs: usize) -> Token {
    let mut token = Token::of(chars, Origin::Word);
    if signs == 0 && token.text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        token.text = stem(token.text);
    }
    if let Some((cut, _)) = token.text.char_indices().nth(WORD_MAX_CHARS) {
        token.text.truncate(cut);
    }
    token
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(joined(&tokens(&composed(text))), expected, "{text}");
    }

    #[test]
    fn a_run_of_hangul_is_its_pairs_and_its_last_syllable() {
        check("대학교", "대학 학교 교");
        check("형", "형");
        check("이 형은", "이 형은 은");
        check("ㅋㅋㅋ", "ㅋㅋ ㅋㅋ ㅋ");
        check("検索エンジン", "検索 索エ エン ンジ ジン ン");
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        check("Running RUNS ran", "run run ran");
        check("Café ＣＡＦＥ", "cafe cafe");
        check("don't stop-it", "don t stop it");
        check("Привет, мир 2026", "привет мир 2026");
    }

    #[test]
    fn scripts_part_where_they_meet() {
        check("KBS뉴스9", "kb 뉴스 스 9");
        check("iPhone을", "iphon 을");
    }

    #[test]
    fn names_with_signs_are_words() {
        check("C++ and C#, c++17", "c++ and c# c++ 17");
        check("a+b, a++b, 1+1, C+, x+++y, #1, google+", "a b a b 1 1 c x y 1 googl");
    }

    #[test]
    fn an_emoji_is_a_word_whatever_its_variant() {
        check("좋아요👍🏽 ❤️", "좋아 아요 요 👍 🏽 ❤");
        check("👨‍👩‍👧", "👨 👩 👧");
    }

    #[test]
    fn decomposed_text_gives_the_same_tokens() {
        let decomposed: String = "대학교 Café".nfd().collect();
        check(&decomposed, "대학 학교 교 cafe");
    }

    #[test]
    fn nothing_gives_nothing() {
        check("", "");
        check("!!! \"' ... — \u{200b}", "");
    }

    #[test]
    fn a_long_word_is_cut() {
        let tokens = tokens(&"9".repeat(100));
        assert_eq!((tokens.len(), tokens[0].text.len(), tokens[0].end), (1, WORD_MAX_CHARS, 100));
    }

    proptest! {
        #[test]
        fn any_text_gives_tokens_in_order_without_spaces_or_quotes(text in any::<String>()) {
            let text = composed(&text);
            let mut before = 0;
            for token in tokens(&text) {
                prop_assert!(!token.text.is_empty());
                prop_assert!(token.text.chars().all(|char| !char.is_whitespace() && char != '"' && char != '*'));
                prop_assert!(token.start >= before && token.end > token.start);
                prop_assert!(text.get(token.start..token.end).is_some());
                before = token.start;
            }
        }
    }
}
