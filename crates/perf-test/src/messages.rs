//! The benchmark messages: `Array*` and `Struct*` in both generations of their layouts.
//!
//! Used by the worker loops (as types) and by the command line (as names and sizes). Every message
//! ends with `time` (ns) and `id`; fields lie as in C without padding, which `IntoBytes` proves at
//! compile time. A name that comes at run time is turned into a type by [`with_type`].

use gantry::Message;
use gantry::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::experiment::Layout;

/// A message that carries when it was sent and its number.
pub trait Stamped {
    /// Writes the time of sending (ns, CLOCK_MONOTONIC) and the number of the message (first 1).
    fn stamp(&mut self, time_ns: i64, id: u64);
    /// When it was sent, ns of CLOCK_MONOTONIC.
    fn time_ns(&self) -> i64;
    /// The number of the message.
    fn id(&self) -> u64;
}

macro_rules! message {
    ($name:ident, [$($field:ident: $type:ty),+], $($definition:expr),+) => {
        #[doc = concat!("`performance_test/msg/", stringify!($name), "`.")]
        #[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
        #[zerocopy(crate = "gantry::zerocopy")]
        #[repr(C)]
        #[allow(missing_docs, reason = "the fields are those of the message definition")]
        pub struct $name {
            $(pub $field: $type,)+
            pub time: i64,
            pub id: u64,
        }

        impl Message for $name {
            const TYPE_NAME: &'static str = concat!("performance_test/msg/", stringify!($name));
            const DEFINITION: &'static str =
                concat!($($definition,)+ "long long time;\nunsigned long long id;\n");
        }

        impl Stamped for $name {
            fn stamp(&mut self, time_ns: i64, id: u64) {
                self.time = time_ns;
                self.id = id;
            }

            fn time_ns(&self) -> i64 {
                self.time
            }

            fn id(&self) -> u64 {
                self.id
            }
        }
    };
}

macro_rules! array {
    ($($name:ident $length:literal)+) => {
        $(message!($name, [array: [u8; $length]], "octet array[", $length, "];\n");)+
    };
}

macro_rules! structure {
    ($name:ident of $type:ty, $idl:literal: $($field:ident)+) => {
        message!($name, [$($field: $type),+], $($idl, " ", stringify!($field), ";\n"),+);
    };
}

/// The arrays of performance_test before 1.5: as many bytes as the name says, then time and id.
pub mod v1 {
    use super::*;
    array! {
        Array1k 1024
        Array4k 4096
        Array16k 16384
        Array32k 32768
        Array60k 61440
        Array64k 65536
        Array256k 262144
        Array1m 1048576
        Array2m 2097152
        Array4m 4194304
        Array8m 8388608
    }
}

/// The arrays of performance_test 1.5 and later: as large as the name says, time and id included.
pub mod v2 {
    use super::*;
    array! {
        Array32 16
        Array64 48
        Array128 112
        Array256 240
        Array512 496
        Array1k 1008
        Array4k 4080
        Array16k 16368
        Array32k 32752
        Array60k 61424
        Array64k 65520
        Array256k 262128
        Array1m 1048560
        Array2m 2097136
        Array4m 4194288
        Array8m 8388592
    }
}

/// The nested structures, the same in both generations. Their names understate them: Struct4k is 8464 bytes.
pub mod nested {
    use super::*;
    structure!(Struct16 of u8, "octet":
        struct0 struct1 struct2 struct3 struct4 struct5 struct6 struct7
        struct8 struct9 structa structb structc structd structe structf);
    structure!(Struct256 of Struct16, "Struct16":
        struct160 struct161 struct162 struct163 struct164 struct165 struct166 struct167
        struct168 struct169 struct16a struct16b struct16c struct16d struct16e struct16f);
    structure!(Struct4k of Struct256, "Struct256":
        struct2560 struct2561 struct2562 struct2563 struct2564 struct2565 struct2566 struct2567
        struct2568 struct2569 struct256a struct256b struct256c struct256d struct256e struct256f);
    structure!(Struct32k of Struct4k, "Struct4k":
        struct4k0 struct4k1 struct4k2 struct4k3 struct4k4 struct4k5 struct4k6 struct4k7);
}

/// Something to do with a message type that is known only at run time.
pub trait WithType {
    /// What comes of it.
    type Output;
    /// Does it for the type `M`.
    fn run<M: Message + Stamped>(self) -> Self::Output;
}

macro_rules! generation {
    ($table:ident, $dispatch:ident: $($module:ident { $($name:ident)+ })+) => {
        const $table: &[(&str, usize)] =
            &[$($((stringify!($name), size_of::<$module::$name>()),)+)+];

        fn $dispatch<W: WithType>(name: &str, work: W) -> Option<W::Output> {
            match name {
                $($(stringify!($name) => Some(work.run::<$module::$name>()),)+)+
                _ => None,
            }
        }
    };
}

generation!(SIZES_V1, run_v1:
    v1 { Array1k Array4k Array16k Array32k Array60k Array64k Array256k Array1m Array2m Array4m Array8m }
    nested { Struct16 Struct256 Struct4k Struct32k });
generation!(SIZES_V2, run_v2:
    v2 { Array32 Array64 Array128 Array256 Array512 Array1k Array4k Array16k Array32k Array60k Array64k
         Array256k Array1m Array2m Array4m Array8m }
    nested { Struct16 Struct256 Struct4k Struct32k });

/// The messages of one generation: names and sizes in bytes.
#[must_use]
pub fn sizes_bytes(layout: Layout) -> &'static [(&'static str, usize)] {
    match layout {
        Layout::V1 => SIZES_V1,
        Layout::V2 => SIZES_V2,
    }
}

/// Does `work` for the message `name`; `None` if this generation has no such message.
pub fn with_type<W: WithType>(name: &str, layout: Layout, work: W) -> Option<W::Output> {
    match layout {
        Layout::V1 => run_v1(name, work),
        Layout::V2 => run_v2(name, work),
    }
}

/// How alike two names must be, of 1, for the one to be a misspelling of the other.
const NEAR: f64 = 0.85;

/// The name and size in bytes of the message that is meant by `name`, in any mixture of cases.
///
/// # Errors
/// A sentence that names the nearest message, if one is near, and says how to list them.
pub fn find(name: &str, layout: Layout) -> Result<(&'static str, usize), String> {
    let known = sizes_bytes(layout);
    if let Some(found) = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(*found);
    }
    let wanted = name.to_lowercase();
    let nearest = known
        .iter()
        .map(|(known, _)| (strsim::jaro_winkler(&wanted, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(String::new(), |(_, nearest)| format!("; the nearest is `{nearest}`"));
    let layout = layout.name();
    Err(format!(
        "there is no message `{name}` in the {layout} layout{nearest}. \
         `perf_test --msg-list --message-layout {layout}` lists them all"
    ))
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn sizes_of_the_1_x_layout_are_those_of_the_original() {
        let expected = [
            ("Array1k", 1040),
            ("Array4k", 4112),
            ("Array16k", 16400),
            ("Array32k", 32784),
            ("Array60k", 61456),
            ("Array64k", 65552),
            ("Array256k", 262_160),
            ("Array1m", 1_048_592),
            ("Array2m", 2_097_168),
            ("Array4m", 4_194_320),
            ("Array8m", 8_388_624),
            ("Struct16", 32),
            ("Struct256", 528),
            ("Struct4k", 8464),
            ("Struct32k", 67728),
        ];
        assert_eq!(sizes_bytes(Layout::V1), expected);
    }

    #[test]
    fn sizes_of_the_2_x_layout_are_those_of_the_original() {
        let expected = [
            ("Array32", 32),
            ("Array64", 64),
            ("Array128", 128),
            ("Array256", 256),
            ("Array512", 512),
            ("Array1k", 1024),
            ("Array4k", 4096),
            ("Array16k", 16384),
            ("Array32k", 32768),
            ("Array60k", 61440),
            ("Array64k", 65536),
            ("Array256k", 262_144),
            ("Array1m", 1_048_576),
            ("Array2m", 2_097_152),
            ("Array4m", 4_194_304),
            ("Array8m", 8_388_608),
            ("Struct16", 32),
            ("Struct256", 528),
            ("Struct4k", 8464),
            ("Struct32k", 67728),
        ];
        assert_eq!(sizes_bytes(Layout::V2), expected);
    }

    /// Stamps a message of zeros and looks at its last 16 bytes.
    struct Ends;

    impl WithType for Ends {
        type Output = ();

        fn run<M: Message + Stamped>(self) {
            let mut message = <M as gantry::zerocopy::FromZeros>::new_box_zeroed().unwrap();
            message.stamp(-2, 0x0102_0304_0506_0708);
            assert_eq!((message.time_ns(), message.id()), (-2, 0x0102_0304_0506_0708));
            let bytes = message.as_bytes();
            let (rest, end) = bytes.split_at(bytes.len() - 16);
            assert!(rest.iter().all(|byte| *byte == 0), "{} wrote elsewhere", M::TYPE_NAME);
            assert_eq!(end[..8], (-2_i64).to_ne_bytes());
            assert_eq!(end[8..], 0x0102_0304_0506_0708_u64.to_ne_bytes());
            assert!(M::DEFINITION.ends_with("long long time;\nunsigned long long id;\n"));
        }
    }

    #[test]
    fn time_and_id_are_the_last_sixteen_bytes_of_every_message() {
        for layout in [Layout::V1, Layout::V2] {
            for (name, _) in sizes_bytes(layout) {
                assert!(with_type(name, layout, Ends).is_some(), "{name}");
            }
        }
        assert_eq!(offset_of!(nested::Struct256, struct161), 32);
    }

    #[test]
    fn definitions_read_as_the_original_and_tell_the_generations_apart() {
        assert_eq!(v2::Array4m::TYPE_NAME, "performance_test/msg/Array4m");
        assert!(v2::Array4m::DEFINITION.starts_with("octet array[4194288];\nlong long time;"));
        assert!(v1::Array4m::DEFINITION.starts_with("octet array[4194304];\n"));
        assert!(nested::Struct4k::DEFINITION.contains("Struct256 struct256f;\n"));
    }

    #[test]
    fn an_unknown_message_names_the_nearest_and_how_to_list() {
        assert_eq!(find("array4M", Layout::V2), Ok(("Array4m", 4_194_304)));
        let sentence = find("Aray4m", Layout::V2).unwrap_err();
        assert!(sentence.contains("`Array4m`") && sentence.contains("--msg-list"), "{sentence}");
        for foreign in ["PointCloud1m", "RadarTrack", "NavSatFix", "Range", "unbounded"] {
            let sentence = find(foreign, Layout::V2).unwrap_err();
            assert!(!sentence.contains("nearest") && sentence.contains("--msg-list"), "{sentence}");
        }
        let sentence = find("Array128", Layout::V1).unwrap_err();
        assert!(sentence.contains("1.x layout"), "{sentence}");
    }
}
