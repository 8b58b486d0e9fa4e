//! A wiring as boxes in a row that breaks like text: what happens, in which order, and where it breaks.

use maud::{Markup, html};

use super::{Drawing, place, text};

const BOX: f64 = 30.0;
/// Room for an arrow between two boxes.
const ARROW: f64 = 22.0;
const ROW_GAP: f64 = 18.0;
const PADDING: f64 = 10.0;
/// What a step begins with that is a fault.
const FAULT: char = '✗';

struct Placed<'a> {
    step: &'a str,
    left: f64,
    top: f64,
    width: f64,
    /// Whether it begins a line that goes on from the one above.
    goes_on: bool,
}

/// Draws the steps of a wiring.
pub(crate) fn steps<S: AsRef<str>>(steps: &[S], protected: bool, width: f64) -> Drawing {
    let placed = placed(steps, width);
    let Some(last) = placed.last() else { return Drawing::nothing(width) };
    let height = last.top + BOX + 2.0;
    let body = html! {
        @for (index, one) in placed.iter().enumerate() {
            @if index > 0 { (arrow(&placed[index - 1], one)) }
            (a_box(one, protected))
        }
    };
    Drawing { width, height, body }
}

fn placed<S: AsRef<str>>(steps: &[S], width: f64) -> Vec<Placed<'_>> {
    let mut placed: Vec<Placed> = Vec::new();
    for step in steps.iter().map(AsRef::as_ref) {
        let wide = (text::width(step) + 2.0 * PADDING).min(width - ARROW - 2.0);
        let (left, top, goes_on) = match placed.last() {
            None => (1.0, 1.0, false),
            Some(before) => {
                let left = before.left + before.width + ARROW;
                if left + wide <= width - 1.0 {
                    (left, before.top, false)
                } else {
                    (1.0 + ARROW, before.top + BOX + ROW_GAP, true)
                }
            }
        };
        placed.push(Placed { step, left, top, width: wide, goes_on });
    }
    placed
}

fn a_box(one: &Placed, protected: bool) -> Markup {
    let class = match one.step.starts_with(FAULT) {
        true => "box fault",
        false if protected => "box protected",
        false => "box naive",
    };
    html! {
        rect class=(class) x=(place(one.left)) y=(place(one.top)) width=(place(one.width)) height=(place(BOX)) rx="4" {}
        text.step x=(place(one.left + one.width / 2.0)) y=(place(one.top + 19.5)) text-anchor="middle" {
            (text::cut(one.step, one.width - PADDING))
        }
    }
}

fn arrow(from: &Placed, to: &Placed) -> Markup {
    let (tip, middle) = (to.left - 2.0, to.top + BOX / 2.0);
    let way = if to.goes_on {
        // Down from the box above, back between the lines, and in from the left.
        let (under, between) = (from.left + from.width / 2.0, to.top - ROW_GAP / 2.0);
        let (start, edge) = (place(from.top + BOX), place(8.0));
        format!("M{} {start}V{}H{edge}V{}H{}", place(under), place(between), place(middle), place(tip - 4.0))
    } else {
        format!("M{} {}H{}", place(to.left - ARROW + 2.0), place(middle), place(tip - 4.0))
    };
    html! {
        path.arrow d=(way) {}
        path.tip d=(format!("M{} {}l-7 -4v8z", place(tip), place(middle))) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_break_into_lines_and_stay_inside() {
        let names = ["HTTP deposit", "BEGIN", "ledger + account", "COMMIT", "✗ crash", "send to Kafka", "answer"];
        let placed = placed(&names, 340.0);
        assert_eq!(placed.len(), names.len());
        assert!(placed.iter().all(|one| one.left >= 0.0 && one.left + one.width <= 340.0));
        assert!(placed.iter().any(|one| one.goes_on));
        let long = "a step with a name that no box of this width could ever hold in one line";
        assert!(super::placed(&[long], 340.0)[0].width < 340.0);
    }
}
