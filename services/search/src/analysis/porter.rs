//! Porter's stemmer for English (1980, with the three later departures of its author): `running` and `runs` become `run`.
//!
//! It is the one that SQLite's full-text index has built in; a test of the adapter compares both word by word.

/// Shorter words are as they are.
const STEMMED_MIN_BYTES: usize = 3;

/// The stem of a word of lower-case ASCII letters.
pub fn stem(word: String) -> String {
    if word.len() < STEMMED_MIN_BYTES {
        return word;
    }
    let mut word = Word(word.into_bytes());
    word.plurals();
    word.past_and_progressive();
    word.final_y();
    word.replace_first(&DOUBLE_SUFFIXES, 0);
    word.replace_first(&SUFFIXES, 0);
    word.drop_suffix();
    word.tidy_up();
    // Bytes of ASCII letters, of which only whole ones were taken away.
    String::from_utf8(word.0).unwrap_or_default()
}

type Rules = [(&'static str, &'static str)];

const DOUBLE_SUFFIXES: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const SUFFIXES: [(&str, &str); 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// `ement` before `ment` before `ent`: the longest that fits counts, whether it may be dropped or not.
const DROPPED: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

struct Word(Vec<u8>);

impl Word {
    fn is_consonant(&self, at: usize) -> bool {
        match self.0[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => at == 0 || !self.is_consonant(at - 1),
            _ => true,
        }
    }

    /// How often a vowel is followed by a consonant in the first `len` letters.
    fn measure(&self, len: usize) -> usize {
        (1..len).filter(|at| self.is_consonant(*at) && !self.is_consonant(at - 1)).count()
    }

    fn has_vowel(&self, len: usize) -> bool {
        (0..len).any(|at| !self.is_consonant(at))
    }

    /// Whether the first `len` letters end in the same consonant twice.
    fn ends_double(&self, len: usize) -> bool {
        len >= 2 && self.0[len - 1] == self.0[len - 2] && self.is_consonant(len - 1)
    }

    /// Whether they end as `hop` does, where an `e` is missing.
    fn ends_short(&self, len: usize) -> bool {
        len >= 3
            && self.is_consonant(len - 3)
            && !self.is_consonant(len - 2)
            && self.is_consonant(len - 1)
            && !matches!(self.0[len - 1], b'w' | b'x' | b'y')
    }

    /// The length of what is before a suffix.
    fn before(&self, suffix: &str) -> Option<usize> {
        self.0.ends_with(suffix.as_bytes()).then(|| self.0.len() - suffix.len())
    }

    fn end_with(&mut self, len: usize, suffix: &str) {
        self.0.truncate(len);
        self.0.extend_from_slice(suffix.as_bytes());
    }

    fn plurals(&mut self) {
        if let Some(len) = self.before("sses") {
            self.end_with(len, "ss");
        } else if let Some(len) = self.before("ies") {
            self.end_with(len, "i");
        } else if self.before("ss").is_none()
            && let Some(len) = self.before("s")
        {
            self.0.truncate(len);
        }
    }

    fn past_and_progressive(&mut self) {
        if let Some(len) = self.before("eed") {
            if self.measure(len) > 0 {
                self.end_with(len, "ee");
            }
            return;
        }
        let Some(len) = self.before("ed").or_else(|| self.before("ing")) else { return };
        if !self.has_vowel(len) {
            return;
        }
        self.0.truncate(len);
        if ["at", "bl", "iz"].iter().any(|end| self.before(end).is_some()) {
            self.0.push(b'e');
        } else if self.ends_double(len) && !matches!(self.0[len - 1], b'l' | b's' | b'z') {
            self.0.truncate(len - 1);
        } else if self.measure(len) == 1 && self.ends_short(len) {
            self.0.push(b'e');
        }
    }

    fn final_y(&mut self) {
        if let Some(len) = self.before("y")
            && self.has_vowel(len)
        {
            self.end_with(len, "i");
        }
    }

    /// Replaces the first suffix that fits, if enough is before it.
    fn replace_first(&mut self, rules: &Rules, above: usize) {
        let fits = rules.iter().find_map(|(suffix, by)| Some((self.before(suffix)?, by)));
        if let Some((len, by)) = fits
            && self.measure(len) > above
        {
            self.end_with(len, by);
        }
    }

    fn drop_suffix(&mut self) {
        let Some((suffix, len)) = DROPPED.iter().find_map(|suffix| Some((*suffix, self.before(suffix)?))) else {
            return;
        };
        let fits = suffix != "ion" || (len > 0 && matches!(self.0[len - 1], b's' | b't'));
        if fits && self.measure(len) > 1 {
            self.0.truncate(len);
        }
    }

    fn tidy_up(&mut self) {
        if let Some(len) = self.before("e") {
            let measure = self.measure(len);
            if measure > 1 || (measure == 1 && !self.ends_short(len)) {
                self.0.truncate(len);
            }
        }
        let len = self.0.len();
        if self.ends_double(len) && self.0[len - 1] == b'l' && self.measure(len) > 1 {
            self.0.truncate(len - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_family_share_a_stem() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("hoping", "hope"),
            ("falling", "fall"),
            ("happy", "happi"),
            ("relational", "relat"),
            ("generalizations", "gener"),
            ("oscillators", "oscil"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("controlling", "control"),
            ("is", "is"),
            ("s", "s"),
        ] {
            assert_eq!(stem(word.to_owned()), expected, "{word}");
        }
    }
}
