//! The files under `deploy/` agree with one another and with the program: every role, address, port and file that one of
//! them names is there. No container engine is needed; the proxy's configuration is run by the suite `on_seven`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compose;

use std::path::{Path, PathBuf};
use std::process::Command;

use compose::Compose;
use madang::Role;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

fn text(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn settings() -> toml::Table {
    text("cluster.toml").parse().unwrap()
}

/// The port of a listener such as `0.0.0.0:8080`.
fn port(address: &toml::Value) -> u16 {
    address.as_str().unwrap().rsplit_once(':').unwrap().1.parse().unwrap()
}

#[test]
fn every_role_has_a_process_that_the_proxy_knows() {
    let (compose, settings, upstreams) = (Compose::read(), settings(), text("nginx/upstreams.conf"));
    let public = port(&settings["listen"]);
    // Search is asked on one binary only: a cluster has no engine for it yet, and every process says so.
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Search).map(Role::name) {
        let command = compose.list(role, "command");
        assert_eq!(command, ["serve", "--config", "/etc/madang/cluster.toml", "--roles", role]);
        let upstream = format!("upstream madang_{} {{\n    server {role}:{public} ", role.replace('-', "_"));
        assert!(upstreams.contains(&upstream), "{upstream:?}");
        assert!(compose.list("nginx", "depends_on").contains(&role.to_owned()), "nginx looks up {role} as it starts");
    }
    let proxy = text("nginx.conf");
    for line in upstreams.lines().filter_map(|line| line.strip_prefix("upstream ")) {
        let name = line.trim_end_matches(" {");
        assert!(proxy.contains(&format!(" {name};")), "{name} is no upstream that anything is sent to");
    }
}

#[test]
fn every_address_in_the_settings_is_a_service() {
    let (compose, settings) = (Compose::read(), settings());
    let cluster = &settings["cluster"];
    let internal = port(&cluster["internal"]["listen"]);
    let services = compose.services();
    let is_service = |address: &str, expected: u16| {
        let host = address.rsplit_once("//").map_or(address, |(_, rest)| rest);
        let host = host.rsplit_once('@').map_or(host, |(_, rest)| rest);
        let (name, port) = host.split_once(':').unwrap_or_else(|| panic!("{address}"));
        assert!(services.iter().any(|service| service == name), "{name} of {address} in {services:?}");
        assert_eq!(port.parse::<u16>().unwrap(), expected, "{address}");
    };
    let peers = cluster["peers"].as_table().unwrap();
    for (role, addresses) in peers {
        for address in addresses.as_array().unwrap() {
            is_service(address.as_str().unwrap(), internal);
            assert!(address.as_str().unwrap().starts_with(&format!("http://{role}:")), "{address} for {role}");
        }
    }
    for server in cluster["mysql"].as_array().unwrap() {
        is_service(server["url"].as_str().unwrap(), 3_306);
    }
    is_service(cluster["redis"]["urls"][0].as_str().unwrap(), 6_379);
    is_service(cluster["kafka"]["bootstrap"][0].as_str().unwrap(), 9_092);
    let advertised = compose.environment("kafka", "KAFKA_ADVERTISED_LISTENERS");
    assert_eq!(advertised, format!("PLAINTEXT://{}", cluster["kafka"]["bootstrap"][0].as_str().unwrap()));
}

#[test]
fn every_file_that_is_mounted_or_built_from_is_there() {
    let compose = Compose::read();
    for service in compose.services() {
        for volume in compose.list(&service, "volumes") {
            let (from, to) = volume.split_once(':').unwrap();
            if from.starts_with('.') {
                assert!(folder().join(from).exists(), "{service} mounts {from}");
                assert!(to.ends_with(":ro"), "{service} may write {from}");
            } else {
                assert!(compose.volumes().contains(&from.to_owned()), "{service} uses the volume {from}");
            }
        }
    }
    let (context, dockerfile) = compose.build("member");
    assert!(folder().join(&context).join(&dockerfile).is_file(), "{dockerfile}");
    assert!(folder().join(&context).join("Cargo.lock").is_file(), "the whole repository is built from");
}

#[test]
fn the_proxy_listens_where_it_is_published_and_its_word_is_taken() {
    let (compose, settings) = (Compose::read(), settings());
    let published = &compose.list("nginx", "ports")[0];
    let inside = published.rsplit_once(':').unwrap().1;
    assert!(text("nginx/listen.conf").lines().any(|line| line == format!("listen {inside};")), "{published}");
    assert_eq!(compose.subnet(), settings["trusted_proxies"].as_str().unwrap());
    let limit = settings["body_limit_bytes"].as_integer().unwrap() / 1_024;
    assert!(text("nginx.conf").contains(&format!("client_max_body_size {limit}k;")));
}

#[test]
fn the_databases_know_the_account_of_the_settings() {
    let account = text("mariadb/account.sql");
    for server in settings()["cluster"]["mysql"].as_array().unwrap() {
        let url = server["url"].as_str().unwrap();
        let (user, password) = url["mysql://".len()..].split_once('@').unwrap().0.split_once(':').unwrap();
        assert!(account.contains(&format!("'{user}'@'%' IDENTIFIED BY '{password}'")), "{url}");
    }
    let name = settings()["cluster"]["name"].as_str().unwrap().to_owned();
    assert!(account.contains(&format!("`{name}\\_%`")), "its databases start with {name}");
}

#[test]
fn the_settings_are_accepted_for_every_role() {
    for role in ["all"].into_iter().chain(Role::ALL.map(Role::name)) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_madang"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MADANG_")) {
            command.env_remove(name);
        }
        let secret = "a secret that is long enough for a test";
        command.env("MADANG_CLUSTER_SECRET", secret).arg("config").arg("--config").arg(folder().join("cluster.toml"));
        let output = command.args(["--set", &format!("roles={role}")]).output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{role}: {stderr}");
        assert!(stdout.contains("[cluster.kafka]") && !stdout.contains(secret), "{stdout}");
    }
}

#[test]
fn the_image_is_built_with_our_compiler_and_runs_as_nobody_special() {
    let dockerfile = text("Dockerfile");
    let toolchain = std::fs::read_to_string(folder().join("../rust-toolchain.toml")).unwrap();
    let toolchain: toml::Table = toolchain.parse().unwrap();
    let (version, _) = toolchain["toolchain"]["channel"].as_str().unwrap().rsplit_once('.').unwrap();
    assert!(dockerfile.contains(&format!("ARG BUILDER=rust:{version}-")), "{version}");
    let user = dockerfile.lines().rev().find_map(|line| line.strip_prefix("USER ")).expect("a user");
    assert!(!user.starts_with('0') && !user.starts_with("root"), "{user}");
}
