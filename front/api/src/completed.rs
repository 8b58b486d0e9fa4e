//! What is true of every call of a kind, written into the description once instead of beside each: the problems that follow
//! from what a call takes and whom it lets in, and parameters and bodies that are left out rather than null. A handler says
//! what it answers itself, and the problems that are its own.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi as Description;

use crate::plain_schemas::make_plain;

/// Where the calls are that pass the limits; what operators ask does not.
const LIMITED: &str = "/api/v1/";
const METHODS: [&str; 4] = ["get", "put", "post", "delete"];
/// Where the schema of a JSON body is.
const BODY_SCHEMA: &str = "/content/application~1json/schema";

/// The description with what every call has.
pub(crate) fn completed(description: Description) -> Description {
    let Ok(mut value) = serde_json::to_value(&description) else { return description };
    let paths = value.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (method, call) in item.as_object_mut().into_iter().flatten() {
            if METHODS.contains(&method.as_str())
                && let Some(call) = call.as_object_mut()
            {
                complete(call, method, path.starts_with(LIMITED));
            }
        }
    }
    make_plain(&mut value);
    serde_json::from_value(value).unwrap_or(description)
}

fn complete(call: &mut Map<String, Value>, method: &str, is_limited: bool) {
    // Said of each call: to who reads the description, nothing said is nothing thought of.
    call.entry("security").or_insert(json!([]));
    let takes = |place: &str| parameters(call).any(|parameter| parameter["in"] == place);
    let is_for_members = call["security"].as_array().is_some_and(|ways| !ways.is_empty());
    let has_body = call.contains_key("requestBody");
    let kinds = [
        (takes("query") || has_body, &[("400", "BadRequest"), ("422", "Unprocessable")][..]),
        (takes("path"), &[("404", "NotFound")]),
        (has_body, &[("408", "TooSlow"), ("413", "TooLarge"), ("415", "NotJson")]),
        (is_for_members, &[("401", "Unauthorized")]),
        // Writes need a member who is not suspended, and with a cookie a page of ours.
        (is_for_members && method != "get", &[("403", "Forbidden")]),
        (true, &[("405", "WrongMethod")]),
        (is_limited, &[("429", "TooMany"), ("500", "Internal"), ("503", "Unavailable")]),
    ];
    for parameter in call.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(schema) = parameter.get_mut("schema") {
            never_null(schema);
        }
    }
    if let Some(schema) = call.get_mut("requestBody").and_then(|body| body.pointer_mut(BODY_SCHEMA)) {
        never_null(schema);
    }
    let Some(responses) = call.get_mut("responses").and_then(Value::as_object_mut) else { return };
    for (status, name) in kinds.iter().filter(|(holds, _)| *holds).flat_map(|(_, problems)| *problems) {
        let shared = json!({ "$ref": format!("#/components/responses/{name}") });
        responses.entry(*status).or_insert(shared);
    }
}

fn parameters(call: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    call.get("parameters").and_then(Value::as_array).into_iter().flatten()
}

/// An optional parameter is one that may be left out. The derive says it may be null too, which in an address or a header
/// is the text `null`. Of an optional body it says the same, and generated clients then cannot send none.
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
    use std::collections::BTreeSet;

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
    fn an_optional_body_is_left_out_not_null() {
        let schema = json!({ "oneOf": [{ "$ref": "#/components/schemas/Deletion" }, { "type": "null" }] });
        let mut call = json!({ "requestBody": { "content": { "application/json": { "schema": schema } } } });
        complete(call.as_object_mut().unwrap(), "delete", true);
        let body =
            json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Deletion" } } } });
        assert_eq!(call["requestBody"], body);
    }

    #[test]
    fn whom_a_call_lets_in_is_always_said() {
        let mut call = json!({ "responses": {} });
        complete(call.as_object_mut().unwrap(), "get", true);
        assert_eq!(call["security"], json!([]));
    }

    #[test]
    fn a_call_has_the_problems_of_its_kind_and_keeps_what_it_says_itself() {
        let statuses = |mut call: Value, method: &str| {
            complete(call.as_object_mut().unwrap(), method, true);
            let responses = call["responses"].as_object().unwrap();
            assert!(responses.get("503").unwrap()["description"] == "its own");
            let statuses: BTreeSet<_> = responses.keys().map(|status| status.parse::<u16>().unwrap()).collect();
            statuses.into_iter().collect::<Vec<_>>()
        };
        let own = json!({ "503": { "description": "its own" } });
        let ways = json!([{ "bearer": [] }]);
        let write = json!({ "requestBody": {}, "security": ways, "parameters": [{ "in": "path" }], "responses": own });
        assert_eq!(statuses(write, "put"), [400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503]);
        let read = json!({ "security": ways, "parameters": [{ "in": "header" }], "responses": own });
        assert_eq!(statuses(read, "get"), [401, 405, 429, 500, 503]);
        assert_eq!(statuses(json!({ "responses": own }), "get"), [405, 429, 500, 503], "a public call");
    }
}
