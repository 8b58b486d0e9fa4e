//! Replies of servers as values: nothing is assumed of them.

use redis::Value;

use crate::Failure;

/// The items of an array.
pub fn items(value: &Value) -> Result<&[Value], Failure> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(Failure::reply(kind(other))),
    }
}

/// A text; `None` where there is nothing.
pub fn text(value: &Value) -> Result<Option<&str>, Failure> {
    match value {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) => {
            std::str::from_utf8(bytes).map(Some).map_err(|_| Failure::reply("bytes that are no text"))
        }
        other => Err(Failure::reply(kind(other))),
    }
}

/// A number, as an integer or as a text; `None` where there is nothing.
pub fn number(value: &Value) -> Result<Option<u64>, Failure> {
    if let Value::Int(number) = value {
        return u64::try_from(*number).map(Some).map_err(|_| Failure::reply("a negative number"));
    }
    let parse = |text: &str| text.parse().map_err(|_| Failure::reply("a text that is no number"));
    text(value)?.map(parse).transpose()
}

/// A number that must be there.
pub fn count(value: &Value) -> Result<u64, Failure> {
    number(value)?.ok_or_else(|| Failure::reply("no number"))
}

/// A moment, in milliseconds.
pub fn millis(value: &Value) -> Result<i64, Failure> {
    let found = text(value)?.ok_or_else(|| Failure::reply("no moment"))?;
    found.parse().map_err(|_| Failure::reply("a text that is no moment"))
}

/// Not the value itself: it may be anything that people wrote.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nothing",
        Value::Int(_) => "a number",
        Value::BulkString(_) | Value::SimpleString(_) => "a text",
        Value::Array(_) => "a list",
        _ => "something else",
    }
}
