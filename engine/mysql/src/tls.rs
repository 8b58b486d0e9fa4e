//! Connections that nobody on the way can read or change: what is trusted, and as whom we come.

use std::fs::File;

use mysql_async::OptsBuilder;

use crate::{MysqlOptions, OpenError};

/// Says whether connections can be made as the configuration wants them, before the first of them is.
pub(crate) fn is_possible(options: &MysqlOptions) -> Result<(), OpenError> {
    let Some(tls) = &options.tls else { return Ok(()) };
    if !cfg!(feature = "mysql-tls") {
        return Err(OpenError::Tls("this program was built without the feature mysql-tls".to_owned()));
    }
    if tls.client_cert_file.is_some() != tls.client_key_file.is_some() {
        return Err(OpenError::Tls("a client certificate and its key come together".to_owned()));
    }
    let files = [&tls.ca_file, &tls.client_cert_file, &tls.client_key_file];
    for file in files.into_iter().flatten() {
        File::open(file).map_err(|error| OpenError::Tls(format!("{}: {error}", file.display())))?;
    }
    Ok(())
}

/// Connections as the configuration wants them.
#[cfg(feature = "mysql-tls")]
pub(crate) fn apply(options: &MysqlOptions, opts: OptsBuilder) -> OptsBuilder {
    use mysql_async::{ClientIdentity, SslOpts};

    let Some(tls) = &options.tls else { return opts };
    let mut ssl = SslOpts::default();
    if let Some(ca_file) = tls.ca_file.clone() {
        // Who names an authority trusts that one alone.
        ssl = ssl.with_root_certs(vec![ca_file.into()]).with_disable_built_in_roots(true);
    }
    if let (Some(cert), Some(key)) = (tls.client_cert_file.clone(), tls.client_key_file.clone()) {
        ssl = ssl.with_client_identity(Some(ClientIdentity::new(cert.into(), key.into())));
    }
    if let Some(name) = tls.server_name.clone() {
        ssl = ssl.with_danger_tls_hostname_override(Some(name));
    }
    opts.ssl_opts(ssl)
}

/// Without the feature there are no such connections, and [`is_possible`] has refused to want them.
#[cfg(not(feature = "mysql-tls"))]
pub(crate) fn apply(_options: &MysqlOptions, opts: OptsBuilder) -> OptsBuilder {
    opts
}
