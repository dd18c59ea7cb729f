//! Credentials of S3: profiles in `~/.aws/credentials` and `~/.aws/config`, where the environment has none.
//!
//! Keys in the environment, web identities and the roles of machines in a cloud are handled by `object_store`. Profiles
//! that ask another program or a login page are not.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

/// The settings of a profile that are used.
const SETTINGS: [(&str, AmazonS3ConfigKey); 5] = [
    ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
    ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
    ("aws_session_token", AmazonS3ConfigKey::Token),
    ("region", AmazonS3ConfigKey::Region),
    ("endpoint_url", AmazonS3ConfigKey::Endpoint),
];
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The settings of the profile `AWS_PROFILE`, or of `default`. The error says why a profile that was asked for has none.
pub(super) fn profile() -> Result<Vec<(AmazonS3ConfigKey, String)>, String> {
    let wanted = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
    // Keys in the environment come before those of a profile that is not named.
    if wanted.is_none() && env::var_os("AWS_ACCESS_KEY_ID").is_some() {
        return Ok(Vec::new());
    }
    let name = wanted.as_deref().unwrap_or("default");
    let mut settings = BTreeMap::new();
    for (variable, file, prefix) in
        [("AWS_CONFIG_FILE", "config", "profile "), ("AWS_SHARED_CREDENTIALS_FILE", "credentials", "")]
    {
        let path = env::var_os(variable).map(PathBuf::from);
        let Some(path) = path.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".aws").join(file))) else {
            continue;
        };
        let text = match fs::metadata(&path) {
            Ok(meta) if meta.len() > MAX_FILE_BYTES => return Err(format!("{} is too large", path.display())),
            Ok(_) => fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        settings.extend(section(&text, name, prefix));
    }
    if settings.is_empty() && wanted.is_some() {
        return Err(format!("AWS_PROFILE is `{name}`, and neither ~/.aws/credentials nor ~/.aws/config has it"));
    }
    let found = SETTINGS.into_iter().filter_map(|(setting, key)| Some((key, settings.remove(setting)?)));
    Ok(found.collect())
}

/// The settings of a profile in a file; in `config` names other than `default` have a prefix.
fn section(text: &str, name: &str, prefix: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut is_inside = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(header) = trimmed.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            let header = header.trim();
            is_inside = header == name && (prefix.is_empty() || name == "default")
                || header.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && rest.trim() == name);
        } else if is_inside
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = trimmed.split_once('=')
        {
            settings.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    settings
}

/// Says which credentials are incomplete. Without any, those of the machine's role are tried.
pub(super) fn missing(builder: &AmazonS3Builder) -> Option<String> {
    let has = |key: AmazonS3ConfigKey| builder.get_config_value(&key).is_some_and(|value| !value.is_empty());
    use AmazonS3ConfigKey::{
        ContainerCredentialsFullUri, ContainerCredentialsRelativeUri, SkipSignature, WebIdentityTokenFile,
    };
    let others = [ContainerCredentialsFullUri, ContainerCredentialsRelativeUri, WebIdentityTokenFile];
    let is_public = builder.get_config_value(&SkipSignature).is_some_and(|value| value == "true");
    let has_no_role = env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    match (has(AmazonS3ConfigKey::AccessKeyId), has(AmazonS3ConfigKey::SecretAccessKey)) {
        (false, false) if has_no_role && !is_public && !others.into_iter().any(has) => {
            Some("there are none in the environment and none in ~/.aws".to_owned())
        }
        (true, false) => Some("there is an access key without its secret".to_owned()),
        (false, true) => Some("there is a secret without its access key".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_read_from_both_kinds_of_files() {
        let credentials = "[default]\naws_access_key_id = one\n\n[corpora]\n# a note\naws_access_key_id=two\n\
                           aws_secret_access_key = se=cret\n";
        let config =
            "[default]\nregion = eu-west-1\n[profile corpora]\nregion = eu-central-1\ns3 =\n  region = nested\n";
        let of = |text, name, prefix| section(text, name, prefix);
        assert_eq!(of(credentials, "default", "")["aws_access_key_id"], "one");
        assert_eq!(of(credentials, "corpora", "")["aws_secret_access_key"], "se=cret");
        assert_eq!(of(config, "corpora", "profile ")["region"], "eu-central-1");
        assert_eq!(of(config, "default", "profile ")["region"], "eu-west-1");
        assert!(of(config, "other", "profile ").is_empty());
    }

    #[test]
    fn half_a_pair_of_keys_is_noticed() {
        let with_key = AmazonS3Builder::new().with_access_key_id("a");
        assert!(missing(&with_key).unwrap().contains("without its secret"));
        assert_eq!(missing(&with_key.with_secret_access_key("b")), None);
        assert_eq!(missing(&AmazonS3Builder::new()), None);
    }
}
