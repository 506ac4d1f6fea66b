//! Enums whose variants have names.

/// Gives an enum the names of its variants: `NAMES`, `name`, `Display` and `FromStr`.
macro_rules! named {
    ($type:ty, $kind:literal, { $($name:literal: $pattern:pat => $value:expr),+ $(,)? } $($other:pat => $rest:literal)?) => {
        impl $type {
            /// The names of all variants.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Returns the name of the variant.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($pattern => $name,)+
                    $($other => $rest,)?
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> $crate::error::Result<Self> {
                match name {
                    $($name => Ok($value),)+
                    _ => Err($crate::error::Error::UnknownName {
                        kind: $kind,
                        given: name.to_string(),
                        known: Self::NAMES,
                    }),
                }
            }
        }
    };
}
