//! Schemas in the forms that every generator of clients reads. OpenAPI 3.1 allows keys beside a `$ref`; many generators take
//! such a schema for another one than the one it refers to, or make code of it that does not compile.

use serde_json::{Value, json};

/// Leaves nothing beside any `$ref`, wherever it is. What is said of something that may be null is said of the whole; what
/// is said of a reference alone is said around it.
pub(crate) fn make_plain(value: &mut Value) {
    if let Some(choices) = value.get_mut("oneOf").and_then(Value::as_array_mut) {
        let described = choices.iter_mut().filter_map(take_description).last();
        if let Some(description) = described {
            value["description"] = description;
        }
    } else if let Some(description) = take_description(value) {
        *value = json!({ "allOf": [value.take()], "description": description });
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        Value::Object(fields) => fields.values_mut().for_each(make_plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What is said beside a reference, if it is one.
fn take_description(schema: &mut Value) -> Option<Value> {
    let schema = schema.as_object_mut().filter(|schema| schema.contains_key("$ref"))?;
    schema.remove("description")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(mut value: Value) -> Value {
        make_plain(&mut value);
        value
    }

    #[test]
    fn what_is_said_of_a_reference_is_said_around_it() {
        let id = json!({ "$ref": "#/components/schemas/Id" });
        let described = json!({ "$ref": "#/components/schemas/Id", "description": "Whose" });
        let around = json!({ "allOf": [id], "description": "Whose" });
        assert_eq!(
            plain(json!({ "properties": { "a": described, "b": id } })),
            json!({ "properties": { "a": around, "b": id } })
        );
        let choice = json!({ "oneOf": [described, { "type": "null" }] });
        assert_eq!(plain(choice), json!({ "oneOf": [id, { "type": "null" }], "description": "Whose" }));
    }
}
