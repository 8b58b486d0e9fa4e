//! Reads `deploy/compose.yaml` as Docker would, as far as the tests look.

use yaml_rust2::{Yaml, YamlLoader};

/// The file, read.
pub(crate) struct Compose(Yaml);

impl Compose {
    pub(crate) fn read() -> Self {
        let text = super::text("compose.yaml");
        let mut documents = YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("compose.yaml: {error}"));
        assert_eq!(documents.len(), 1, "one document");
        Self(documents.remove(0))
    }

    /// The names of all services.
    pub(crate) fn services(&self) -> Vec<String> {
        names(&self.0["services"])
    }

    /// The volumes that are declared.
    pub(crate) fn volumes(&self) -> Vec<String> {
        names(&self.0["volumes"])
    }

    /// A field of a service, its own or from what it merges.
    fn field(&self, service: &str, key: &str) -> &Yaml {
        let found = &self.0["services"][service];
        assert!(!found.is_badvalue(), "there is no service {service}");
        let own = &found[key];
        if own.is_badvalue() { &found["<<"][key] } else { own }
    }

    /// A field that is a list of words; empty when there is none.
    pub(crate) fn list(&self, service: &str, key: &str) -> Vec<String> {
        let field = self.field(service, key);
        let words = field.as_vec().map(Vec::as_slice).unwrap_or_default();
        words
            .iter()
            .map(|word| word.as_str().unwrap_or_else(|| panic!("{key} of {service}: {word:?}")).into())
            .collect()
    }

    /// A variable of a service.
    pub(crate) fn environment(&self, service: &str, name: &str) -> &str {
        self.field(service, "environment")[name].as_str().unwrap_or_else(|| panic!("{name} of {service}"))
    }

    /// What a service is built from: the context, and the Dockerfile in it.
    pub(crate) fn build(&self, service: &str) -> (String, String) {
        let build = self.field(service, "build");
        (build["context"].as_str().unwrap().to_owned(), build["dockerfile"].as_str().unwrap().to_owned())
    }

    /// The addresses of the network that all are on.
    pub(crate) fn subnet(&self) -> &str {
        self.0["networks"]["inside"]["ipam"]["config"][0]["subnet"].as_str().unwrap()
    }
}

fn names(map: &Yaml) -> Vec<String> {
    map.as_hash().unwrap().keys().map(|name| name.as_str().unwrap().to_owned()).collect()
}
