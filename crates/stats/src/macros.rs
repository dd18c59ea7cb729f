//! Macros for the types of questions and answers: enums of named choices, and structs whose schema keeps the order of
//! its fields.

/// Defines an enum of named choices, each with its canonical kebab-case name and further accepted spellings.
///
/// The names are written once: `name`, `named`, `Display`, serde and the JSON schema read them. An underscore is
/// accepted for a hyphen in every name.
#[macro_export]
macro_rules! choices {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[doc = $doc:literal])* $variant:ident = $canonical:literal $(| $alias:literal)*,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $($(#[doc = $doc])* $variant,)+
        }

        // A private enum may not need all of them.
        #[allow(dead_code)]
        impl $name {
            /// All choices, in the order in which they are listed.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The canonical name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $canonical,)+
                }
            }

            /// The choice with this name, canonical or former.
            pub fn named(name: &str) -> Option<$name> {
                let name = name.replace('_', "-");
                match name.as_str() {
                    $($canonical $(| $alias)* => Some($name::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let name = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                $name::named(&name).ok_or_else(|| serde::de::Error::unknown_variant(&name, &[$($canonical),+]))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let aliases: &[(&str, &str)] = &[$($(($alias, $canonical),)*)+];
                let aliases: serde_json::Map<String, serde_json::Value> =
                    aliases.iter().map(|(alias, name)| ((*alias).to_owned(), (*name).into())).collect();
                let descriptions = [$(concat!($($doc),*).trim()),+];
                schemars::json_schema!({
                    "type": "string",
                    "enum": [$($canonical),+],
                    "x-descriptions": descriptions,
                    "x-aliases": aliases,
                })
            }
        }
    };
}

/// Defines structs that are part of an answer, with the traits that all of them have.
///
/// JSON objects have no order, but the columns of a table do: the schema says in `x-order` how the fields are declared.
#[macro_export]
macro_rules! answer {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),+ $(,)?
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
        #[schemars(extend("x-order" = [$($crate::field_name(stringify!($field))),+]))]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)+
        }
    )+};
}
