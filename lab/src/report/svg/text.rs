//! Text in pictures: how wide it will be, and how it is cut or broken to fit, without a font at hand.

/// The size of text in every picture, in pixels.
pub(super) const SIZE: f64 = 12.0;
/// The height of a line of it.
pub(super) const LINE: f64 = 16.0;

/// About how wide a text is, rather too wide than too narrow: fonts differ from reader to reader.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(advance).sum::<f64>() * SIZE
}

/// The same for text in bold.
pub(super) fn bold_width(text: &str) -> f64 {
    width(text) * 1.13
}

fn advance(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.31,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '→' | '—' => 0.92,
        letter if letter.is_ascii_uppercase() => 0.70,
        letter if letter.is_ascii() => 0.62,
        letter if u32::from(letter) < 0x1100 => 0.66,
        _ => 1.05,
    }
}

/// The text, cut with an ellipsis where it is wider than that.
pub(super) fn cut(text: &str, widest: f64) -> String {
    if width(text) <= widest {
        return text.to_owned();
    }
    let mut cut = String::new();
    for letter in text.chars() {
        if width(&cut) + (advance(letter) + 1.0) * SIZE > widest {
            break;
        }
        cut.push(letter);
    }
    format!("{}…", cut.trim_end())
}

/// Room that labels have taken: the next one is set where none is, or not at all.
#[derive(Debug, Default)]
pub(super) struct Taken(Vec<[f64; 4]>);

impl Taken {
    /// Takes the room if it is free.
    pub(super) fn take(&mut self, left: f64, top: f64, width: f64, height: f64) -> bool {
        let room = [left, top, left + width, top + height];
        let free = self
            .0
            .iter()
            .all(|other| room[2] <= other[0] || other[2] <= room[0] || room[3] <= other[1] || other[3] <= room[1]);
        if free {
            self.0.push(room);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_wide_is_cut_and_what_fits_is_not() {
        assert_eq!(cut("COMMIT", 200.0), "COMMIT");
        let short = cut("a label that nobody has room for", 80.0);
        assert!(short.ends_with('…') && width(&short) <= 80.0 + SIZE, "{short}");
        assert_eq!(cut("wide", 0.0), "…");
    }

    #[test]
    fn room_is_taken_once() {
        let mut taken = Taken::default();
        assert!(taken.take(0.0, 0.0, 10.0, 10.0));
        assert!(!taken.take(5.0, 5.0, 10.0, 10.0));
        assert!(taken.take(10.0, 0.0, 10.0, 10.0), "side by side is free");
    }
}
