//! Shows what a command says: text on standard output, progress on standard error, tokens into their file.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::OutputLine;

const TOKENS_MODE: u32 = 0o600;
/// Between two lines of progress where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(1);

/// The terminal's end of a command's output.
pub(crate) struct Console {
    tokens: Option<BufWriter<File>>,
    bar: Option<(String, ProgressBar)>,
    last_plain: Option<(String, Instant)>,
    problem: Option<std::io::Error>,
    terminal: bool,
}

impl Console {
    /// A console whose tokens, if any come, go to `tokens`.
    pub(crate) fn new(tokens: Option<&Path>) -> anyhow::Result<Self> {
        let open = |path: &Path| {
            let file = OpenOptions::new().write(true).create(true).truncate(true).mode(TOKENS_MODE).open(path);
            file.map(BufWriter::new).with_context(|| format!("cannot write the tokens to {}", path.display()))
        };
        Ok(Self {
            tokens: tokens.map(open).transpose()?,
            bar: None,
            last_plain: None,
            problem: None,
            terminal: std::io::stderr().is_terminal(),
        })
    }

    /// Shows one line.
    pub(crate) fn show(&mut self, line: OutputLine) {
        match line {
            OutputLine::Text(text) | OutputLine::Finding(text) => self.print(&text),
            OutputLine::Progress { step, done, total } => self.progress(&step, done, total),
            OutputLine::Token(token) => self.token(&token),
            OutputLine::Held(_) => {}
        }
    }

    /// Ends the bar and makes sure that the tokens are in their file.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.flush().context("cannot write the tokens")?;
        }
        match self.problem {
            Some(problem) => Err(problem).context("cannot write the tokens"),
            None => Ok(()),
        }
    }

    fn print(&self, text: &str) {
        let write = || {
            // A reader that went away (`| head`) is no reason to fail.
            let _ = writeln!(std::io::stdout(), "{text}");
        };
        match &self.bar {
            Some((_, bar)) => bar.suspend(write),
            None => write(),
        }
    }

    fn token(&mut self, token: &str) {
        let Some(tokens) = &mut self.tokens else { return };
        if let Err(error) = writeln!(tokens, "{token}") {
            self.problem.get_or_insert(error);
        }
    }

    fn progress(&mut self, step: &str, done: u64, total: u64) {
        if !self.terminal {
            let is_fresh = |(of, last): &(String, Instant)| of == step && last.elapsed() < PLAIN_EVERY;
            if done == total || !self.last_plain.as_ref().is_some_and(is_fresh) {
                self.last_plain = Some((step.to_owned(), Instant::now()));
                let _ = writeln!(std::io::stderr(), "{step}: {done} of {total}");
            }
            return;
        }
        let shown = match self.bar.take() {
            Some((name, bar)) if name == step => bar,
            old => {
                if let Some((_, bar)) = old {
                    bar.finish_and_clear();
                }
                new_bar(step, total)
            }
        };
        shown.set_position(done);
        self.bar = Some((step.to_owned(), shown));
    }
}

fn new_bar(step: &str, total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:40} {human_pos}/{human_len} {per_sec} {eta}") {
        bar.set_style(style);
    }
    bar.set_prefix(step.to_owned());
    bar
}
