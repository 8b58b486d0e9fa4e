//! Text of people in places where markup cannot isolate it: titles of windows, attributes, feeds.

/// The text without characters that turn the direction of what follows or cannot be seen, at most so long.
pub(crate) fn plain(text: &str, max_chars: usize) -> String {
    let visible = text.chars().map(|char| if char.is_control() { ' ' } else { char }).filter(|char| !is_turning(*char));
    let mut plain: String = visible.take(max_chars + 1).collect();
    if plain.chars().count() > max_chars {
        plain = plain.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect();
    }
    plain
}

fn is_turning(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_turns_the_direction_of_what_follows() {
        assert_eq!(plain("a\u{202e}b\u{2066}\nc", 10), "ab c");
    }

    #[test]
    fn long_text_ends_with_dots() {
        assert_eq!(plain("마당마당", 4), "마당마당");
        assert_eq!(plain("마당마당마", 4), "마당마…");
    }
}
