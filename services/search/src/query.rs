//! What people type, as phrases of tokens. Nothing of it is syntax of an engine: quotes mark a phrase, everything else is text.

use madang_board::text::longer_than;
use madang_kernel::Invalid;

use crate::analysis::{Origin, Token, composed, tokens};

/// The longest query.
pub const QUERY_MAX_CHARS: usize = 100;

/// Tokens that must follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// At least one.
    pub tokens: Vec<String>,
    /// Whether the last may be the beginning of a token: a single syllable, which may stand anywhere in a word.
    pub is_prefix: bool,
}

/// A query: every phrase must be in the title or in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query(Vec<Phrase>);

impl Query {
    /// The phrases of what somebody typed, which may be none: each word is one, and so is whatever is in quotes.
    pub fn parse(typed: &str) -> Result<Self, Invalid> {
        let typed = typed.trim();
        if typed.is_empty() || longer_than(typed, QUERY_MAX_CHARS) {
            return Err(Invalid::field("q", format!("must have 1 to {QUERY_MAX_CHARS} characters")));
        }
        let typed = composed(typed);
        let mut phrases = Vec::new();
        for (number, part) in typed.split(['"', '“', '”', '„', '«', '»']).enumerate() {
            let is_quoted = number % 2 == 1;
            let texts: Vec<&str> = if is_quoted { vec![part] } else { part.split_whitespace().collect() };
            for phrase in texts.into_iter().filter_map(phrase) {
                if !phrases.contains(&phrase) {
                    phrases.push(phrase);
                }
            }
        }
        Ok(Self(phrases))
    }

    /// The phrases.
    pub fn phrases(&self) -> &[Phrase] {
        &self.0
    }

    /// Whether there is nothing to look for: all of it was punctuation.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The phrase of a text. A run at its end may go on where it is found, so that the last syllable's own token is not asked for.
fn phrase(text: &str) -> Option<Phrase> {
    let mut tokens = tokens(text);
    let is_prefix = match tokens.last()?.origin {
        Origin::Last { alone } => {
            if !alone {
                tokens.pop();
            }
            alone
        }
        Origin::Word | Origin::Pair => false,
    };
    let tokens: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
    (!tokens.is_empty()).then_some(Phrase { tokens, is_prefix })
}

/// Where phrases stand in a text, as byte ranges that do not overlap, in order.
pub(crate) fn places(query: &Query, found: &[Token]) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for phrase in query.phrases() {
        let len = phrase.tokens.len();
        places.extend(found.windows(len).filter(|window| phrase.is_at(window)).map(|window| place(phrase, window)));
    }
    places.sort_unstable();
    places.dedup_by(|next, before| {
        let overlaps = next.0 <= before.1;
        if overlaps {
            before.1 = before.1.max(next.1);
        }
        overlaps
    });
    places
}

impl Phrase {
    fn is_at(&self, window: &[Token]) -> bool {
        let last = window.len() - 1;
        window.iter().zip(&self.tokens).enumerate().all(|(at, (found, asked))| match at == last && self.is_prefix {
            true => found.text.starts_with(asked.as_str()),
            false => found.text == *asked,
        })
    }
}

fn place(phrase: &Phrase, window: &[Token]) -> (usize, usize) {
    let (first, last) = (&window[0], &window[window.len() - 1]);
    // Of a pair that begins with the syllable, the syllable alone.
    let is_pair = phrase.is_prefix && last.origin == Origin::Pair;
    let syllable = || phrase.tokens.last().map_or(0, String::len);
    (first.start, if is_pair { last.start + syllable() } else { last.end })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(typed: &str, expected: &[&str]) {
        let query = Query::parse(typed).unwrap();
        let shown = |phrase: &Phrase| phrase.tokens.join(" ") + if phrase.is_prefix { "*" } else { "" };
        assert_eq!(query.phrases().iter().map(shown).collect::<Vec<_>>(), expected, "{typed}");
    }

    #[test]
    fn each_word_is_a_phrase() {
        check("대학교 축제", &["대학 학교", "축제"]);
        check("형", &["형*"]);
        check("running  shoes shoe", &["run", "shoe"]);
        check("뉴스9 KBS뉴스", &["뉴스 스 9", "kb 뉴스"]);
        check("C++ don't", &["c++", "don t"]);
    }

    #[test]
    fn quotes_keep_words_together() {
        check("\"대학교 축제\" 서울", &["대학 학교 교 축제", "서울"]);
        check("“blue sky\" of", &["blue sky", "of"]);
        check("say \"never ends", &["sai", "never end"]);
        check("\"\" a", &["a"]);
    }

    #[test]
    fn syntax_of_engines_is_text() {
        check("NEAR(a b, 3) OR title:x* NOT -y ^z", &["near a", "b", "3", "or", "titl x", "not", "y", "z"]);
        check("') OR 1=1 --", &["or", "1 1"]);
        check("/.*/ ~2 [a TO b]", &["2", "a", "to", "b"]);
    }

    #[test]
    fn what_has_no_word_finds_nothing() {
        check("!!! ...", &[]);
    }

    #[test]
    fn a_query_has_1_to_100_characters() {
        assert!(Query::parse("").is_err() && Query::parse("  ").is_err());
        assert!(Query::parse(&"가".repeat(100)).is_ok() && Query::parse(&"가".repeat(101)).is_err());
    }

    #[test]
    fn phrases_are_found_where_they_stand() {
        let found = |typed: &str, text: &str| {
            let places = places(&Query::parse(typed).unwrap(), &tokens(text));
            places.into_iter().map(|(start, end)| text[start..end].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("대학교", "우리대학교는 대학 교"), ["대학교"]);
        assert_eq!(found("형", "형은 큰형"), ["형", "형"]);
        assert_eq!(found("run", "Running runs"), ["Running", "runs"]);
        assert_eq!(found("대학 학교", "대학교"), ["대학교"]);
        assert_eq!(found("\"blue sky\"", "blue, sky blue"), ["blue, sky"]);
    }

    proptest! {
        #[test]
        fn any_input_is_phrases_of_plain_tokens(typed in any::<String>()) {
            if let Ok(query) = Query::parse(&typed) {
                for token in query.phrases().iter().flat_map(|phrase| &phrase.tokens) {
                    prop_assert!(token.chars().all(|char| !char.is_whitespace() && char != '"' && char != '*'));
                }
            }
        }
    }
}
