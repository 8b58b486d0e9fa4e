//! Where a comment stands in a tree: five base-62 characters a level. Compared as bytes, paths list a tree depth first and
//! oldest first, so one index gives the order, the subtree and the next free place.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::DEPTH_LIMIT;

/// Characters a level.
pub const LEVEL_CHARS: usize = 5;
/// In the order of their bytes.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The byte after the greatest digit, so that `path + AFTER_DIGITS` lies behind every descendant of `path`.
const AFTER_DIGITS: char = '{';

const _: () = assert!(DIGITS[61] + 1 == AFTER_DIGITS as u8);

/// 62^5 siblings are all there can be; nothing more fits below this parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("has as many replies as one comment can have")]
pub struct LevelFull;

/// Text that cannot be a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a path is 1 to {DEPTH_LIMIT} groups of {LEVEL_CHARS} characters 0-9A-Za-z")]
pub struct PathParseError;

/// The path of a comment. Orders as its bytes do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommentPath(String);

impl CommentPath {
    /// The article itself: no comment has this path, every root is its child.
    pub fn of_article() -> Self {
        Self(String::new())
    }

    /// 1 for a root.
    pub fn depth(&self) -> u32 {
        // No path is longer than a few hundred characters.
        u32::try_from(self.0.len() / LEVEL_CHARS).unwrap_or(u32::MAX)
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first text behind every descendant: they lie between the path and this, both excluded.
    pub fn end_of_descendants(&self) -> String {
        format!("{}{AFTER_DIGITS}", self.0)
    }

    /// The place of a new child, given the greatest path below this one: after the last child there is.
    pub fn next_child(&self, last_descendant: Option<&Self>) -> Result<Self, LevelFull> {
        let level = self.0.len()..self.0.len() + LEVEL_CHARS;
        let last_child = last_descendant.and_then(|last| last.0.get(level));
        let next = match last_child {
            Some(last) => successor(last).ok_or(LevelFull)?,
            None => "0".repeat(LEVEL_CHARS),
        };
        Ok(Self(format!("{}{next}", self.0)))
    }
}

/// The next number of the same width; `None` after the last.
fn successor(level: &str) -> Option<String> {
    let mut bytes = level.as_bytes().to_vec();
    for byte in bytes.iter_mut().rev() {
        let value = DIGITS.binary_search(byte).ok()?;
        match DIGITS.get(value + 1) {
            Some(next) => {
                *byte = *next;
                return String::from_utf8(bytes).ok();
            }
            None => *byte = DIGITS[0],
        }
    }
    None
}

impl fmt::Display for CommentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CommentPath {
    type Err = PathParseError;

    fn from_str(text: &str) -> Result<Self, PathParseError> {
        let levels = text.len() / LEVEL_CHARS;
        let whole = text.len().is_multiple_of(LEVEL_CHARS) && (1..=DEPTH_LIMIT as usize).contains(&levels);
        if whole && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(PathParseError)
        }
    }
}

impl Serialize for CommentPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CommentPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> CommentPath {
        text.parse().unwrap()
    }

    fn check(parent: &CommentPath, last: &str, expected: &str) {
        assert_eq!(parent.next_child(Some(&path(last))).unwrap().as_str(), expected);
    }

    #[test]
    fn a_child_follows_the_last_child_whatever_is_below_it() {
        let article = CommentPath::of_article();
        assert_eq!(article.next_child(None).unwrap().as_str(), "00000");
        check(&article, "00000", "00001");
        check(&article, "00009zzzzz00004", "0000A");
        check(&article, "0000Z", "0000a");
        check(&article, "000zz", "00100");
        check(&path("0000a"), "0000a0000z00000", "0000a00010");
        assert_eq!(path("0000a").next_child(None).unwrap().as_str(), "0000a00000");
    }

    #[test]
    fn a_full_level_says_so() {
        assert_eq!(CommentPath::of_article().next_child(Some(&path("zzzzz"))), Err(LevelFull));
        assert_eq!(path("00000").next_child(Some(&path("00000zzzzz00000"))), Err(LevelFull));
        check(&CommentPath::of_article(), "zzzzy", "zzzzz");
    }

    #[test]
    fn only_whole_levels_of_plain_characters_are_paths() {
        let longest = "0".repeat(LEVEL_CHARS * DEPTH_LIMIT as usize);
        let too_long = "0".repeat(LEVEL_CHARS * (DEPTH_LIMIT as usize + 1));
        assert!(longest.parse::<CommentPath>().is_ok());
        for text in ["", "0", "0000", "000000", "0000-", "0000{", "마0", too_long.as_str()] {
            assert_eq!(text.parse::<CommentPath>(), Err(PathParseError), "{text:?}");
        }
    }

    fn any_path() -> impl Strategy<Value = CommentPath> {
        "([0-9A-Za-z]{5}){1,6}".prop_map(|text| path(&text))
    }

    proptest! {
        #[test]
        fn any_text_is_a_path_in_one_spelling_or_refused(
            text in prop_oneof!["(?s).{0,40}", "[0-9A-Za-z]{0,30}", "([0-9A-Za-z]{5}){0,52}"],
        ) {
            if let Ok(path) = text.parse::<CommentPath>() {
                prop_assert_eq!(path.as_str(), text.as_str());
                prop_assert!((1..=DEPTH_LIMIT).contains(&path.depth()));
            }
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<CommentPath>(&json).is_ok(), text.parse::<CommentPath>().is_ok());
        }

        #[test]
        fn a_child_sorts_after_its_parent_and_every_earlier_descendant(parent in any_path(), below in any_path()) {
            let earlier = path(&format!("{parent}{below}"));
            prop_assume!(!below.as_str().starts_with("zzzzz"));
            let child = parent.next_child(Some(&earlier)).unwrap();
            prop_assert!(parent < child && earlier < child);
            prop_assert_eq!(child.depth(), parent.depth() + 1);
            prop_assert!(child.as_str() < parent.end_of_descendants().as_str());
            // A path that lies outside the subtree lies outside of the range too.
            let outside = !below.as_str().starts_with(parent.as_str());
            let in_range = below > parent && below.as_str() < parent.end_of_descendants().as_str();
            prop_assert!(!(outside && in_range));
        }

        #[test]
        fn a_successor_is_the_next_number(number in 0u64..62u64.pow(5) - 1) {
            let written = |mut number: u64| {
                let mut digits = [DIGITS[0]; LEVEL_CHARS];
                for digit in digits.iter_mut().rev() {
                    *digit = DIGITS[(number % 62) as usize];
                    number /= 62;
                }
                String::from_utf8(digits.to_vec()).unwrap()
            };
            prop_assert_eq!(successor(&written(number)), Some(written(number + 1)));
        }
    }
}
