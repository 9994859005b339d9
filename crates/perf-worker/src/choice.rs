//! Options whose value is one of several: each value has a name on the command line and a meaning.

/// An option whose value is one of several.
pub trait Choice: Copy + PartialEq + 'static {
    /// All values, each with its name on the command line and its meaning as a sentence.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The name of the value on the command line.
    #[must_use]
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, ..)| *value == self).map_or("", |(_, name, _)| name)
    }
}

/// Defines an enum of unit variants and implements [`Choice`] for it. The doc comment of a variant becomes the meaning
/// of the value.
macro_rules! choice {
    (
        $(#[$attribute:meta])*
        pub enum $choice:ident {
            $($(#[doc = $meaning:literal])+ $value:ident = $name:literal,)+
        }
        default $default:ident
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $choice {
            $($(#[doc = $meaning])+ #[serde(rename = $name)] $value,)+
        }

        impl Default for $choice {
            fn default() -> Self {
                $choice::$default
            }
        }

        impl $crate::choice::Choice for $choice {
            const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$(($choice::$value, $name, concat!($($meaning),+).trim_ascii())),+];
        }
    };
}

pub(crate) use choice;
