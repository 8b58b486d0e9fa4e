//! Passwords that are tried first: the common ones in their usual disguises, characters in order or repeated, the member's own
//! name, the site's. A list of words and a few rules cover what a list of millions would spell out.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::name::folded;

/// Words of which common passwords are made, in several languages, and what Korean words give on a Latin keyboard.
static WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../data/common_words.txt").split_whitespace().collect());
/// Rows and columns of keyboards, along which fingers run.
const RUNS: [&str; 8] = [
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "1q2w3e4r5t6y7u8i9o0p",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "qazwsxedcrfvtgbyhnujm",
];
/// A run is worth a character, and so is a repetition; fewer than this many are too few.
const WORTH_MIN: usize = 5;
/// A run is at least so long: two neighbours come together by chance.
const RUN_MIN_CHARS: usize = 3;
/// Beside a name, at least so many characters must be somebody's own.
const OWN_CHARS_MIN: usize = 4;

/// What is wrong with a password, if somebody who guesses would try it early. `about` are words that everybody knows of the
/// member and the site.
pub(crate) fn weakness(password: &str, about: &[&str]) -> Option<&'static str> {
    let plain: Vec<char> = folded(password).chars().collect();
    let mut single = plain.clone();
    single.dedup();
    if worth(&plain).min(worth(&single)) < WORTH_MIN {
        return Some("must not be just a few characters in order or repeated");
    }
    if spellings(&plain).iter().any(|letters| WORDS.contains(letters.as_str())) {
        return Some("is one of the most common passwords");
    }
    let text: String = plain.into_iter().collect();
    let words = about.iter().map(|word| folded(word)).filter(|word| word.chars().count() >= RUN_MIN_CHARS);
    let own = words.fold(text.clone(), |left, word| left.replacen(&word, "", 1));
    let is_little_more = own != text && own.chars().count() < OWN_CHARS_MIN;
    is_little_more.then_some("must not be just your name or the name of the site")
}

/// How many characters somebody has to think of: one for each that neither goes on with a run nor repeats what came before.
fn worth(password: &[char]) -> usize {
    let mut worth = 0;
    let mut at = 0;
    while at < password.len() {
        let rest = &password[at..];
        at += run(rest).max(repetition(&password[..at], rest)).max(1);
        worth += 1;
    }
    worth
}

/// The length of the run along a keyboard, or of one key, that a text begins with; 0 if there is none.
fn run(text: &[char]) -> usize {
    let same = text.iter().take_while(|char| **char == text[0]).count();
    let along = |row: &str, backwards: bool| {
        let mut row: Vec<char> = row.chars().collect();
        if backwards {
            row.reverse();
        }
        let starts = row.iter().enumerate().filter(|(_, key)| **key == text[0]).map(|(place, _)| place);
        let length = |start: usize| row[start..].iter().zip(text).take_while(|(key, char)| key == char).count();
        starts.map(length).max().unwrap_or(0)
    };
    let longest = RUNS.iter().flat_map(|row| [along(row, false), along(row, true)]).max().unwrap_or(0).max(same);
    if longest >= RUN_MIN_CHARS { longest } else { 0 }
}

/// How much of what follows is what came just before, once more.
fn repetition(before: &[char], rest: &[char]) -> usize {
    (1..=before.len().min(rest.len())).rev().find(|length| before.ends_with(&rest[..*length])).unwrap_or(0)
}

/// The letters of a password without what people put around and into a word: digits and marks at both ends, and digits that
/// stand for letters.
fn spellings(password: &[char]) -> [String; 3] {
    let bare = |text: &[char]| -> String {
        let text: String = text.iter().collect();
        text.trim_matches(|char: char| !char.is_alphabetic()).to_owned()
    };
    let read = |one: char| password.iter().map(|char| letter(*char, one)).collect::<Vec<_>>();
    let whole = |text: Vec<char>| text.into_iter().filter(|char| char.is_alphabetic()).collect();
    [bare(password), whole(read('l')), disguised(password, &bare)]
}

/// The word inside, with its digits read as letters, after what is put around it is off.
fn disguised(password: &[char], bare: &dyn Fn(&[char]) -> String) -> String {
    let inside: Vec<char> = bare(password).chars().map(|char| letter(char, 'i')).collect();
    inside.into_iter().filter(|char| char.is_alphabetic()).collect()
}

/// The letter that a digit or mark stands for; a 1 may be an i or an l.
fn letter(char: char, one: char) -> char {
    match char {
        '0' => 'o',
        '1' | '!' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_first_is_refused() {
        for password in [
            "password",
            "Password1",
            "P@ssw0rd!",
            "p4ssw0rd2024",
            "passw0rd",
            "iloveyou",
            "sunshine1",
            "qwerty123",
            "letmein!",
            "welcome1",
            "admin123",
            "football7",
            "princess",
            "abc12345",
            "1q2w3e4r",
            "1q2w3e4r!",
            "qwer1234",
            "asdf1234!",
            "dkssudgktpdy",
            "tkfkdgo12",
            "사랑해사랑해",
            "대한민국1234",
            "superman",
            "trustno1",
            "monkey123",
            "dragon12",
            "michael1",
            "charlie99",
            "qazwsx123",
            "zaq12wsx",
            "11111111",
            "00000000",
            "12345678",
            "123456789",
            "1234567890",
            "87654321",
            "123123123",
            "abcabcabc",
            "aaaaaaaaaaaaaaaa",
            "qwertyuiop",
            "asdfghjkl",
            "abcdefgh",
            "abcd1234",
            "12341234",
            "a1a1a1a1",
            "🙂🙂🙂🙂🙂🙂🙂🙂",
            "112233445566",
        ] {
            assert!(weakness(password, &[]).is_some(), "{password}");
        }
    }

    #[test]
    fn what_somebody_thought_of_is_taken() {
        for password in [
            "correct horse",
            "battery staple",
            "another horse battery",
            "a long password",
            "of-this-test",
            "Tr0ub4dor&3",
            "hunter2 was here",
            "member-secret-0815-password",
            "kX9$mQ2!",
            "마당에 비가 온다",
            "19840612kim!",
            "🙂🌳🍀🌊🙂🌊",
            "zxq7w1pv",
            "my dog ate it",
            "윤슬이 반짝이는",
        ] {
            assert_eq!(weakness(password, &["anna", "board"]), None, "{password}");
        }
    }

    #[test]
    fn a_name_is_no_password() {
        for password in ["annabelle", "Annabelle1", "annabelle123", "1annabelle!", "board.example"] {
            assert!(weakness(password, &["Annabelle", "board", "example"]).is_some(), "{password}");
        }
        assert_eq!(weakness("annabelle likes rain", &["annabelle"]), None);
        assert_eq!(weakness("rainy days", &["", "ab"]), None, "what is too short to be a name hides nothing");
    }

    #[test]
    fn the_list_holds_words_as_they_are_compared() {
        for word in WORDS.iter() {
            assert_eq!(folded(word), *word);
            assert!(word.chars().all(char::is_alphabetic), "{word}");
        }
        assert!(WORDS.len() > 600, "{}", WORDS.len());
    }
}
