//! Names that people cannot tell apart, by Unicode Technical Standard 39: what a name looks like, whether part of it cannot
//! be seen, and whether it mixes scripts. The tables are those of `unicode-security`, Unicode 18.

use madang_board::MemberId;
use unicode_normalization::UnicodeNormalization;
use unicode_security::mixed_script::AugmentedScriptSet;
use unicode_security::skeleton;

use crate::name::folded;

/// A skeleton is kept up to here: a letter may look like several.
const SKELETON_MAX_CHARS: usize = 128;

/// What a name looks like: two names with one skeleton are the same name to a reader. The letters that are shown are
/// replaced by what they look like, and then their case is folded: `PaypaI` with a capital i is `paypal`.
pub fn name_skeleton(name: &str) -> String {
    // Folding makes letters that have look-alikes of their own: the m of a capital M looks like rn.
    let whole = (0..2).fold(name.nfkc().collect(), |seen: String, _| folded(&skeleton(&seen).collect::<String>()));
    whole.chars().take(SKELETON_MAX_CHARS).collect()
}

/// What is kept for a member from before skeletons were, whose looks somebody else has: unique, and nobody's looks.
pub fn second_skeleton(name: &str, member: MemberId) -> String {
    format!("{}\u{1}{member}", name_skeleton(name))
}

/// Whether a name holds a character that usually shows nothing: variation selectors, joiners, fillers.
pub(crate) fn has_invisible_characters(name: &str) -> bool {
    // A skeleton leaves out what is default-ignorable, and nothing else becomes nothing.
    name.chars().any(|char| skeleton(char.encode_utf8(&mut [0; 4])).next().is_none())
}

/// Whether a name mixes scripts otherwise than people do: Latin goes with Hangul, Han, Kana and Bopomofo as they go with one
/// another ("highly restrictive"), and nothing else goes with anything.
pub(crate) fn mixes_scripts(name: &str) -> bool {
    let latin = AugmentedScriptSet::for_char('a');
    let (mut all, mut beside_latin) = (AugmentedScriptSet::default(), AugmentedScriptSet::default());
    for char in name.chars() {
        let scripts = AugmentedScriptSet::for_char(char);
        all.intersect_with(scripts);
        let mut in_latin = scripts;
        in_latin.intersect_with(latin);
        if in_latin.is_empty() {
            beside_latin.intersect_with(scripts);
        }
    }
    all.is_empty() && !(beside_latin.kore || beside_latin.jpan || beside_latin.hanb)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_tables_are_those_that_are_promised() {
        assert_eq!(unicode_security::UNICODE_VERSION.0, 18);
    }

    #[test]
    fn names_that_look_the_same_have_one_skeleton() {
        for (one, other) in [
            ("admin", "аdmin"),
            ("admin", "adrnin"),
            ("Madang", "madang"),
            ("Madang", "rnadang"),
            ("paypal", "paypaI"),
            ("paypal", "paypa1"),
            ("bob", "b0b"),
            ("Bob", "BОb"),
            ("cope", "соре"),
            ("СОРЕ", "cope"),
            ("ann", "ａnn"),
        ] {
            assert_eq!(name_skeleton(one), name_skeleton(other), "{one} {other}");
        }
    }

    #[test]
    fn names_that_look_different_have_two() {
        for (one, other) in
            [("anna", "anne"), ("anna", "anna_"), ("지훈", "지흔"), ("user12", "user21"), ("이반", "иван")]
        {
            assert_ne!(name_skeleton(one), name_skeleton(other), "{one} {other}");
        }
    }

    #[test]
    fn no_two_hangul_syllables_look_the_same() {
        let mut seen = HashMap::new();
        for syllable in '가'..='힣' {
            let other = seen.insert(name_skeleton(&syllable.to_string()), syllable);
            assert_eq!(other, None, "{syllable}");
        }
    }
}
