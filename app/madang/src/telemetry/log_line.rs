//! Lines of the log that belong to a request, with its id behind them. The formats themselves are those of
//! `tracing-subscriber`; a span for every request would say the same and cost each of them, whether or not it has a line.

use std::fmt;

use madang_kernel::{RequestId, current_request};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// A format whose lines have the id of their request.
pub(super) struct WithRequestId<F> {
    format: F,
    add: fn(String, &RequestId) -> String,
}

impl<F> WithRequestId<F> {
    /// Lines for people: `… request_id=4f1c…`.
    pub(super) fn human(format: F) -> Self {
        Self { format, add: human }
    }

    /// Lines for programs: `{…,"request_id":"4f1c…"}`.
    pub(super) fn json(format: F) -> Self {
        Self { format, add: json }
    }
}

impl<S, N, F> FormatEvent<S, N> for WithRequestId<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let Some(id) = current_request() else { return self.format.format_event(context, to, event) };
        let mut line = String::new();
        self.format.format_event(context, Writer::new(&mut line), event)?;
        to.write_str(&(self.add)(line, &id))
    }
}

fn human(mut line: String, id: &RequestId) -> String {
    line.truncate(line.trim_end().len());
    line + " request_id=" + id.as_str() + "\n"
}

/// An id needs no escapes; a line that is no object stays as it is.
fn json(mut line: String, id: &RequestId) -> String {
    line.truncate(line.trim_end().len());
    match line.pop() {
        Some('}') => line + ",\"request_id\":\"" + id.as_str() + "\"}\n",
        Some(other) => format!("{line}{other}\n"),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_last_of_a_line_and_a_line_stays_one() {
        let id = RequestId::from_number(0xab);
        assert_eq!(human("WARN a: b\n".to_owned(), &id), "WARN a: b request_id=00000000000000ab\n");
        let line = json("{\"message\":\"a } b\"}\n".to_owned(), &id);
        assert_eq!(line, "{\"message\":\"a } b\",\"request_id\":\"00000000000000ab\"}\n");
        assert_eq!(json(String::new(), &id), "");
    }
}
