//! Texts for seeded sites: short, varied, always the same for the same number, rendered once each.

use madang_article::markdown;

const SUBJECTS: [&str; 16] = [
    "The bakery",
    "Our bus line",
    "The night market",
    "The library",
    "A neighbour's cat",
    "The river path",
    "The choir",
    "The repair shop",
    "The football pitch",
    "The school garden",
    "The tea house",
    "The old cinema",
    "The weather",
    "The ferry",
    "The community hall",
    "The 마당",
];
const VERBS: [&str; 12] = [
    "opens earlier now",
    "needs two more hands",
    "was repainted",
    "is looking for a name",
    "closes for a week",
    "has moved",
    "surprised everybody",
    "asks for your opinion",
    "got a new roof",
    "is louder than it was",
    "has a waiting list",
    "came back",
];
const SENTENCES: [&str; 10] = [
    "I walked past it this morning and took a few notes.",
    "Has anybody else noticed, or is it only me?",
    "Last year we had *the same* discussion, and it ended well.",
    "There is a list at the door; please write your name on it.",
    "My grandmother would have said: **start small**.",
    "The details are at <https://example.org/notes>, if you want them.",
    "감사합니다, and see you on Saturday.",
    "Bring a chair, a cup, and some patience.",
    "> It was never about the paint.",
    "- one for the morning\n- one for the evening",
];
/// Different bodies; each is rendered once.
const BODIES: usize = 64;

/// The texts of a seeding.
pub(super) struct SeedTexts {
    bodies: Vec<(String, String)>,
}

impl SeedTexts {
    /// Writes and renders the bodies.
    pub(super) fn new() -> Self {
        let body = |number: usize| {
            let count = 1 + index(mixed(number as u64), 5);
            let sentence = |i: usize| SENTENCES[index(mixed((number * 8 + i) as u64), SENTENCES.len())];
            let text = (0..count).map(sentence).collect::<Vec<_>>().join("\n\n");
            let html = markdown::render(&text);
            (text, html)
        };
        Self { bodies: (0..BODIES).map(body).collect() }
    }

    /// The title of article `number`.
    pub(super) fn title(&self, number: u64) -> String {
        let mix = mixed(number);
        let (subject, verb) = (SUBJECTS[index(mix, SUBJECTS.len())], VERBS[index(mix >> 16, VERBS.len())]);
        format!("{subject} {verb} ({number})")
    }

    /// The text of article `number` and its HTML.
    pub(super) fn body(&self, number: u64) -> (&str, &str) {
        let (text, html) = &self.bodies[index(mixed(number ^ 0x5eed), self.bodies.len())];
        (text, html)
    }
}

/// The place of a number in a list of `length`, which it goes round.
pub(super) fn index(number: u64, length: usize) -> usize {
    usize::try_from(number % length as u64).unwrap_or(0)
}

/// Spreads neighbouring numbers apart (the finisher of splitmix64).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use madang_article::{Content, Title};

    use super::*;

    #[test]
    fn seeded_texts_keep_the_rules_of_articles() {
        let texts = SeedTexts::new();
        for number in [0, 1, 77, u64::MAX] {
            Title::new(&texts.title(number)).unwrap();
            Content::new(texts.body(number).0.to_owned()).unwrap();
        }
        assert_ne!(texts.title(1), texts.title(2));
    }
}
