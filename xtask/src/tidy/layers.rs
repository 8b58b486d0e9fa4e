//! The folders are the architecture: which layer may name which, and which libraries a layer must not know.

use anyhow::Result;

use super::Violation;
use crate::metadata::{self, Package};

/// The layers, as the folders are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Foundation,
    Services,
    Engine,
    Adapters,
    Front,
    App,
    Lab,
    Proof,
    Xtask,
}

/// Libraries that speak HTTP or to an engine; whoever knows one is an adapter, a front or the composition root.
const ENGINES: [&str; 8] = ["rusqlite", "refinery", "mysql_async", "redis", "rdkafka", "sqlx", "reqwest", "hyper"];
const HTTP_SERVERS: [&str; 3] = ["axum", "tower-http", "hyper-util"];

/// Every dependency of this workspace that points the wrong way.
pub(super) fn violations() -> Result<Vec<Violation>> {
    Ok(check(&metadata::packages()?))
}

fn check(packages: &[Package]) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in packages {
        let place = format!("{}/Cargo.toml", package.folder);
        let Some(layer) = layer(&package.folder) else {
            found.push(Violation::new(
                place,
                "lies in no known layer: move it, or teach xtask/src/tidy/layers.rs the new one",
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let reason = match packages.iter().find(|other| other.name == dependency.name) {
                Some(other) => own_crate_refused(package, layer, other, dependency.dev),
                None => library_refused(&package.folder, layer, &dependency.name, dependency.dev),
            };
            if let Some(reason) = reason {
                found.push(Violation::new(&place, format!("must not depend on `{}`: {reason}", dependency.name)));
            }
        }
    }
    found
}

fn layer(folder: &str) -> Option<Layer> {
    Some(match folder.split('/').next()? {
        "foundation" => Layer::Foundation,
        "services" => Layer::Services,
        "engine" => Layer::Engine,
        "adapters" => Layer::Adapters,
        "front" => Layer::Front,
        "app" => Layer::App,
        "lab" => Layer::Lab,
        "proof" => Layer::Proof,
        "xtask" => Layer::Xtask,
        _ => return None,
    })
}

/// Why a crate of ours may not depend on another of ours; `None` if it may.
fn own_crate_refused(from: &Package, layer: Layer, to: &Package, dev: bool) -> Option<&'static str> {
    use Layer::{Adapters, App, Engine, Foundation, Front, Lab, Proof, Services, Xtask};
    let target = self::layer(&to.folder)?;
    let conformance = |folder: &str| folder == "proof/conformance";
    // Where the tests of every layer find their servers; stands on nothing.
    if dev && to.folder == "proof/test-servers" {
        return None;
    }
    match (layer, target) {
        (Foundation, Foundation) if from.folder == "foundation/kernel" => Some("the kernel stands on nothing of ours"),
        (Foundation, Foundation) if to.folder == "foundation/kernel" => None,
        (Foundation, Foundation) if from.folder == "foundation/event" => None,
        (Foundation, Foundation) => Some("a foundation crate stands on the kernel alone; messaging knows no event"),
        (Foundation, _) => Some("the foundation knows nothing above it; turn it round with a port"),

        (Services, Foundation) => None,
        (Services, Services) => Some("services talk through events and look-up ports, never by name"),
        (Services, _) => Some("a service knows the foundation only; put a port in its store.rs"),

        (Engine, Foundation) if knows_the_board(to) => Some("an engine serves any program, and knows no board"),
        (Engine, Foundation) => None,
        (Engine, Proof) if dev && conformance(&to.folder) => None,
        (Engine, Engine) if dev => None,
        (Engine, Engine) => Some("engines do not know one another; whoever takes them joins them"),
        (Engine, _) => Some("an engine serves any program: it knows kernel and messaging, and nothing else of ours"),

        (Adapters, Foundation | Services | Engine) => None,
        (Adapters, Proof) if dev && conformance(&to.folder) => None,
        (Adapters, Adapters) => Some("adapters do not know one another; join them in app"),
        (Adapters, _) => Some("an adapter implements ports of services and foundation, and knows nothing else"),

        (Front, Foundation | Services) => None,
        (Front, Front) if to.folder == "front/server" => None,
        // A front's tests may stand on a real store: the rule against mocks outweighs the layer there.
        (Front, Adapters | Engine) if dev => None,
        (Front, _) => Some("a front calls services; app hands it everything else"),

        (Lab, Foundation) if knows_the_board(to) => {
            Some("the Lab shows that messaging serves a program without a board")
        }
        (Lab, Foundation | Engine) => None,
        (Lab, _) => Some("the Lab stands on messaging and the engines, as any other program would"),

        (App, Lab | Proof | Xtask) => Some("the product does not know its proofs"),
        (App, _) => None,

        (Proof, Foundation | Services) => None,
        (Proof, _) if conformance(&from.folder) => Some("the conformance suite knows ports, never an implementation"),
        (Proof, Xtask) => Some("tasks start the proofs, not the other way round"),
        (Proof, _) => None,

        (Xtask, _) => Some("tasks must build in seconds; start the program instead"),
    }
}

/// Whether a crate of the foundation is about articles and members.
fn knows_the_board(package: &Package) -> bool {
    matches!(package.folder.as_str(), "foundation/board" | "foundation/event")
}

/// Why a crate of a layer may not use a library; `None` if it may.
fn library_refused(folder: &str, layer: Layer, library: &str, dev: bool) -> Option<&'static str> {
    let engine = ENGINES.contains(&library);
    let server = HTTP_SERVERS.contains(&library);
    match layer {
        Layer::Foundation if engine || server => Some("the foundation does no I/O"),
        Layer::Services if engine || server => Some("services know no engine and no HTTP; put a port in store.rs"),
        // Hyper is HTTP itself, which a front speaks.
        Layer::Front if engine && library != "hyper" && !dev => Some("a front reaches data through services"),
        // Processes of one site ask one another by HTTP: this adapter is both ends of it.
        Layer::Adapters if server && folder != "adapters/http" => Some("an adapter serves no HTTP; that is front's"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    const FOLDERS: [&str; 13] = [
        "foundation/kernel",
        "foundation/event",
        "foundation/messaging",
        "services/member",
        "services/article",
        "adapters/sqlite",
        "adapters/redis",
        "adapters/http",
        "front/api",
        "app/madang",
        "proof/conformance",
        "proof/bench",
        "proof/test-servers",
    ];

    /// Whether a crate in `from` that depends on `to` (a folder of ours, or a library) passes.
    fn allowed(from: &str, to: &str, dev: bool) -> bool {
        let dependency = Dependency { name: to.into(), dev };
        let package = |folder: &str| Package { name: folder.into(), folder: folder.into(), ..Package::default() };
        let mut packages: Vec<_> = FOLDERS.into_iter().chain(["xtask"]).map(package).collect();
        let package = packages.iter_mut().find(|package| package.folder == from).expect("one of the folders");
        package.dependencies.push(dependency);
        check(&packages).is_empty()
    }

    #[test]
    fn dependencies_up_the_list_pass() {
        for (from, to) in [
            ("foundation/event", "foundation/kernel"),
            ("foundation/event", "foundation/messaging"),
            ("foundation/messaging", "foundation/kernel"),
            ("services/article", "foundation/event"),
            ("adapters/sqlite", "services/article"),
            ("adapters/sqlite", "foundation/messaging"),
            ("adapters/sqlite", "rusqlite"),
            ("adapters/http", "axum"),
            ("adapters/http", "hyper-util"),
            ("front/api", "services/member"),
            ("front/api", "axum"),
            ("app/madang", "adapters/sqlite"),
            ("app/madang", "front/api"),
            ("proof/conformance", "services/article"),
            ("proof/bench", "app/madang"),
            ("services/article", "serde"),
        ] {
            assert!(allowed(from, to, false), "{from} -> {to}");
        }
    }

    #[test]
    fn dependencies_down_or_across_the_list_fail() {
        for (from, to) in [
            ("foundation/kernel", "foundation/event"),
            ("foundation/messaging", "foundation/event"),
            ("foundation/messaging", "services/article"),
            ("services/article", "services/member"),
            ("services/article", "adapters/sqlite"),
            ("services/article", "front/api"),
            ("services/article", "proof/conformance"),
            ("adapters/sqlite", "adapters/redis"),
            ("adapters/sqlite", "front/api"),
            ("adapters/sqlite", "axum"),
            ("front/api", "adapters/sqlite"),
            ("front/api", "app/madang"),
            ("app/madang", "proof/conformance"),
            ("proof/conformance", "adapters/sqlite"),
            ("proof/bench", "xtask"),
            ("xtask", "foundation/kernel"),
        ] {
            assert!(!allowed(from, to, false), "{from} -> {to}");
        }
    }

    #[test]
    fn services_and_foundation_know_no_engine_and_no_http() {
        for library in ["axum", "rusqlite", "mysql_async", "redis", "rdkafka"] {
            for dev in [false, true] {
                assert!(!allowed("services/article", library, dev), "{library}");
                assert!(!allowed("foundation/messaging", library, dev), "{library}");
            }
        }
        assert!(!allowed("front/api", "rusqlite", false));
    }

    #[test]
    fn only_the_tests_of_an_adapter_use_the_conformance_suite() {
        assert!(allowed("adapters/sqlite", "proof/conformance", true));
        assert!(!allowed("adapters/sqlite", "proof/conformance", false));
        assert!(!allowed("adapters/sqlite", "proof/bench", true));
        assert!(allowed("app/madang", "proof/test-servers", true));
        assert!(!allowed("app/madang", "proof/test-servers", false));
    }

    #[test]
    fn a_crate_in_an_unknown_folder_is_told_so() {
        let stray = Package { name: "stray".into(), folder: "misc/stray".into(), ..Package::default() };
        let found = check(&[stray]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "misc/stray/Cargo.toml");
    }
}
