//! The list of what is compiled in, as CycloneDX 1.5, for programs that look for known holes.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::said;
use crate::libraries::{self, Library};
use crate::workspace;

/// Writes it into a folder.
pub(super) fn write(folder: &Path, version: &str) -> Result<String> {
    let libraries = libraries::of_binary()?;
    let time =
        said("git", &["log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"], &workspace::root())?;
    let text = serde_json::to_string_pretty(&document(version, &time, &libraries))?;
    let name = format!("madang-{version}.cdx.json");
    std::fs::write(folder.join(&name), text + "\n")?;
    Ok(format!("{name} with {} components", libraries.len()))
}

fn document(version: &str, time: &str, libraries: &[Library]) -> Value {
    let reference = |library: &Library| format!("pkg:cargo/{}", library.key());
    let components = libraries.iter().map(|library| {
        json!({
            "type": "library",
            "bom-ref": reference(library),
            "name": library.name,
            "version": library.version,
            "purl": reference(library),
            "licenses": [{"expression": library.license}],
        })
    });
    let dependencies = libraries.iter().map(|library| {
        let needs: Vec<_> = library.needs.iter().map(|key| format!("pkg:cargo/{key}")).collect();
        json!({"ref": reference(library), "dependsOn": needs})
    });
    let itself = format!("pkg:generic/madang@{version}");
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {"type": "application", "bom-ref": itself, "name": "madang", "version": version, "purl": itself},
        },
        "components": components.collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_is_a_component_that_says_what_it_needs() {
        let one = |name: &str, needs: &[&str]| Library {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: "MIT OR Apache-2.0".to_owned(),
            needs: needs.iter().map(|key| (*key).to_owned()).collect(),
        };
        let document = document("0.2.0", "2026-11-18T00:00:00Z", &[one("a", &["b@1.0.0"]), one("b", &[])]);
        assert_eq!(document["components"][0]["purl"], "pkg:cargo/a@1.0.0");
        assert_eq!(
            document["dependencies"][0],
            json!({"ref": "pkg:cargo/a@1.0.0", "dependsOn": ["pkg:cargo/b@1.0.0"]})
        );
        assert_eq!(document["metadata"]["component"]["version"], "0.2.0");
    }
}
