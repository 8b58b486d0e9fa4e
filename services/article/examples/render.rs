//! Measures what rendering costs a writer: `cargo run --release -p madang-article --example render`.

use std::hint::black_box;
use std::time::Instant;

use madang_article::markdown::render;

const ROUNDS: u32 = 20_000;

fn main() {
    let sentence = "The yard was full of people that evening, and nobody wanted to leave before the music ended. ";
    let plain: String = sentence.chars().cycle().take(300).collect();
    let korean: String =
        "마당에는 사람이 가득했고, 아무도 먼저 떠나려 하지 않았다. ".chars().cycle().take(300).collect();
    let marked = format!("# Evening\n\n{}**music** [there](https://a.example)\n\n- one\n- two\n", &plain[..220]);
    let long: String = marked.chars().cycle().take(20_000).collect();
    for (name, text, rounds) in [
        ("300 characters, plain", plain.trim_end(), ROUNDS),
        ("300 characters, Korean", korean.trim_end(), ROUNDS),
        ("300 characters, one asterisk", &format!("{}*", plain.trim_end()), ROUNDS),
        ("300 characters, Markdown", &marked, ROUNDS),
        ("20,000 characters, Markdown", &long, ROUNDS / 100),
    ] {
        black_box(render(text));
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(render(black_box(text)));
        }
        println!("{name:30} {:9.2} µs", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    }
}
