//! What is true of every call, written into the description once instead of beside each: answers that come from the gate
//! before a handler is asked, and parameters that are left out rather than null.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi as Description;

/// Where the calls are that pass the limits; what operators ask does not.
const LIMITED: &str = "/api/v1/";
const METHODS: [&str; 4] = ["get", "put", "post", "delete"];

/// The description with what every call has.
pub(crate) fn completed(description: Description) -> Description {
    let Ok(mut value) = serde_json::to_value(&description) else { return description };
    let paths = value.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (_, call) in item.as_object_mut().into_iter().flatten().filter(|(name, _)| METHODS.contains(&name.as_str()))
        {
            if let Some(call) = call.as_object_mut() {
                complete(call, path.starts_with(LIMITED));
            }
        }
    }
    serde_json::from_value(value).unwrap_or(description)
}

fn complete(call: &mut Map<String, Value>, limited: bool) {
    let has_body = call.contains_key("requestBody");
    for parameter in call.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(schema) = parameter.get_mut("schema") {
            never_null(schema);
        }
    }
    let Some(responses) = call.get_mut("responses").and_then(Value::as_object_mut) else { return };
    let mut add = |status: &str, name: &str| {
        let shared = json!({ "$ref": format!("#/components/responses/{name}") });
        responses.entry(status).or_insert(shared);
    };
    if limited {
        add("429", "TooMany");
        add("503", "Unavailable");
    }
    if has_body {
        add("408", "TooSlow");
    }
}

/// An optional parameter is one that may be left out. The derive says it may be null too, which in an address or a header
/// is the text `null`.
fn never_null(schema: &mut Value) {
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            schema["type"] = kind;
        }
    }
    if let Some(choices) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [choice] = choices.as_slice() {
            let choice = choice.clone();
            *schema = choice;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_parameter_is_left_out_not_null() {
        let mut text = json!({ "type": ["string", "null"], "maxLength": 9 });
        never_null(&mut text);
        assert_eq!(text, json!({ "type": "string", "maxLength": 9 }));
        let mut id = json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Id" }] });
        never_null(&mut id);
        assert_eq!(id, json!({ "$ref": "#/components/schemas/Id" }));
    }

    #[test]
    fn a_call_has_what_the_gate_may_answer_and_keeps_what_it_says_itself() {
        let mut call = json!({ "requestBody": {}, "responses": { "503": { "description": "its own" } } });
        complete(call.as_object_mut().unwrap(), true);
        let statuses: Vec<_> = call["responses"].as_object().unwrap().keys().collect();
        assert_eq!(statuses, ["408", "429", "503"]);
        assert_eq!(call["responses"]["503"]["description"], "its own");
    }
}
