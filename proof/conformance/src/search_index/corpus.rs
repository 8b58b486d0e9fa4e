//! Ten thousand texts, the same every time, of words whose stems are known, and a plain scan of them that knows nothing of the
//! rules by which texts are indexed: Korean is looked for as a part of a text, English by families of words.

use unicode_normalization::UnicodeNormalization as _;

/// Texts.
pub(super) const TEXTS: i64 = 10_000;

/// Families of English words: whoever asks for one finds texts with any of them, and no others.
const FAMILIES: [&[&str]; 14] = [
    &["run", "running", "runs"],
    &["search", "searches", "searching", "searched"],
    &["board", "boards"],
    &["happy"],
    &["connect", "connected", "connection", "connections"],
    &["the"],
    &["of"],
    &["student", "students"],
    &["C++"],
    &["C#"],
    &["c"],
    &["Rust"],
    &["iPhone"],
    &["2026"],
];

/// Words of Korean, some of them parts of others, with what stands behind them.
const KOREAN: [&str; 22] = [
    "검색",
    "검색엔진",
    "대학교",
    "대학",
    "학교",
    "형",
    "형제",
    "인형",
    "큰형님",
    "축제",
    "서울대학교",
    "서울",
    "뉴스",
    "뉴스룸",
    "마당",
    "게시판",
    "안녕하세요",
    "ㅋㅋㅋ",
    "가나다라",
    "한국어",
    "東京",
    "検索エンジン",
];
const PARTICLES: [&str; 8] = ["", "", "은", "을", "에서", "입니다", "9", "은요?"];
const EMOJI: [&str; 4] = ["👍", "😀", "❤️", "🇰🇷"];

/// A text of the corpus.
pub(super) struct Text {
    pub(super) number: i64,
    pub(super) title: String,
    pub(super) body: String,
}

/// All of them.
pub(super) fn texts() -> Vec<Text> {
    let mut random = Random(0x5eed);
    let text = |number| {
        let title = words(&mut random, 1, 4);
        Text { number, title, body: words(&mut random, 3, 25) }
    };
    (1..=TEXTS).map(text).collect()
}

fn words(random: &mut Random, least: u64, most: u64) -> String {
    let mut text = String::new();
    for _ in 0..least + random.below(most - least) {
        if !text.is_empty() {
            text.push_str([" ", " ", " ", ", ", "\n", " \"", "! "][random.below(7) as usize]);
        }
        match random.below(10) {
            0..4 => {
                text.push_str(KOREAN[random.below(KOREAN.len() as u64) as usize]);
                text.push_str(PARTICLES[random.below(PARTICLES.len() as u64) as usize]);
            }
            4..9 => {
                let family = FAMILIES[random.below(FAMILIES.len() as u64) as usize];
                let word = family[random.below(family.len() as u64) as usize];
                match random.below(8) {
                    0 => text.push_str(&word.to_uppercase()),
                    1 => {
                        // A Korean particle stands right behind a word of another script.
                        text.push_str(word);
                        text.push('은');
                    }
                    _ => text.push_str(word),
                }
            }
            _ => text.push_str(EMOJI[random.below(EMOJI.len() as u64) as usize]),
        }
    }
    // Some people's keyboards write syllables in parts.
    if random.below(20) == 0 { text.nfd().collect() } else { text }
}

/// What a word of a query must be in a text.
pub(super) enum Wanted {
    /// A part of it, as it is written.
    Part(&'static str),
    /// A word of this family.
    Family(&'static str),
    /// Words of these families, one after the other.
    Families(&'static [&'static str]),
}

/// The numbers of the texts in which each of these is in the title or in the body, newest first.
pub(super) fn scan(texts: &[Text], wanted: &[Wanted]) -> Vec<i64> {
    let has = |text: &Text| wanted.iter().all(|one| one.is_in(&text.title) || one.is_in(&text.body));
    texts.iter().rev().filter(|text| has(text)).map(|text| text.number).collect()
}

impl Wanted {
    fn is_in(&self, text: &str) -> bool {
        let text: String = text.nfc().collect();
        match self {
            Self::Part(part) => text.contains(part),
            Self::Family(word) => families_of(&text).iter().any(|family| family == &Some(family_of(word))),
            Self::Families(words) => {
                let wanted: Vec<_> = words.iter().map(|word| Some(family_of(word))).collect();
                families_of(&text).windows(wanted.len()).any(|window| window == wanted)
            }
        }
    }
}

fn family_of(word: &str) -> usize {
    FAMILIES.iter().position(|family| family.iter().any(|one| one.eq_ignore_ascii_case(word))).expect("a family")
}

/// The family of each word between spaces, quotes and marks; of any other word none.
fn families_of(text: &str) -> Vec<Option<usize>> {
    let mut families = Vec::new();
    for word in text.split([' ', ',', '\n', '"', '!', '?']).filter(|word| !word.is_empty()) {
        let ascii_end = word.find(|char: char| !char.is_ascii()).unwrap_or(word.len());
        let (word, rest) = word.split_at(ascii_end);
        let family = FAMILIES.iter().position(|family| family.iter().any(|one| one.eq_ignore_ascii_case(word)));
        families.push(family);
        // What stands behind it is another word.
        if !word.is_empty() && !rest.is_empty() {
            families.push(None);
        }
    }
    families
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}
