//! A broker that speaks TLS and asks for a password.

#![cfg(feature = "kafka-tls")]
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use madang_engine_kafka::{ConnectError, KafkaLog, KafkaOptions};
use madang_messaging::{EventLog, GroupId, Polled, PublishOutcome};
use support::broker::{Broker, free_port};
use support::{PATIENCE, TOPIC, message, options};

/// A key for 127.0.0.1 in `keys.p12`, and its certificate in `broker.pem`.
fn make_keys(directory: &Path) {
    let run = |arguments: &[&str]| {
        let made = Command::new("keytool").current_dir(directory).args(arguments).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
    };
    let store = ["-keystore", "keys.p12", "-storetype", "PKCS12", "-storepass", "changeit", "-alias", "broker"];
    let key = ["-genkeypair", "-keyalg", "EC", "-dname", "CN=localhost", "-ext", "SAN=IP:127.0.0.1", "-validity", "30"];
    run(&[&key[..], &store[..]].concat());
    run(&[&["-exportcert", "-rfc", "-file", "broker.pem"][..], &store[..]].concat());
}

fn settings(directory: &Path) -> String {
    make_keys(directory);
    let module = "org.apache.kafka.common.security.plain.PlainLoginModule";
    format!(
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT\n\
         inter.broker.listener.name=PLAINTEXT\nssl.keystore.type=PKCS12\nssl.keystore.location={}\n\
         ssl.keystore.password=changeit\nssl.key.password=changeit\nsasl.enabled.mechanisms=PLAIN\n\
         listener.name.sasl_ssl.plain.sasl.jaas.config={module} required user_madang=\"open sesame\";",
        directory.join("keys.p12").display()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_passes_under_tls_and_a_wrong_password_does_not() {
    let port = free_port();
    let broker = Broker::start_with(&format!("SASL_SSL://127.0.0.1:{port},"), settings).await;
    let with = |password: &str| {
        let certificate = broker.directory().join("broker.pem").display().to_string();
        let security = [
            ("security.protocol", "SASL_SSL"),
            ("ssl.ca.location", &certificate),
            ("sasl.mechanisms", "PLAIN"),
            ("sasl.username", "madang"),
            ("sasl.password", password),
        ];
        let security = security.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        KafkaOptions { security, ..options(&format!("127.0.0.1:{port}")) }
    };
    let refused = KafkaLog::connect(with("open barley")).await.err().unwrap();
    assert!(matches!(refused, ConnectError::Outage(_)), "{refused}");

    let log = KafkaLog::connect(with("open sesame")).await.unwrap();
    assert_eq!(log.publish(&[message(1, "a", "{}")]).await.unwrap(), [PublishOutcome::Published]);
    let mut reader = log.subscribe(&GroupId::new("readers"), &[TOPIC.to_owned()]).await.unwrap();
    let came = tokio::time::timeout(PATIENCE, reader.poll(1, Duration::from_secs(60))).await.unwrap().unwrap();
    let Polled::Deliveries(came) = came else { panic!("a delivery was due: {came:?}") };
    assert_eq!((came.len(), came[0].message.key.as_str()), (1, "a"));
}
