//! Tests that generated code has the values of the definitions.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use gantry_cdr::{AlignedBytes, Message, Shape};
use gantry_idl_ugly::{r#try, ugly_msgs::msg::*};

fn zeroed<T: Message>(shape: impl Shape<T>) -> AlignedBytes {
    AlignedBytes::zeroed(T::shape_bytes(shape).unwrap())
}

/// Makes memory in which all bytes are 0xee, like old bytes of another message.
fn used<T: Message>(shape: impl Shape<T>) -> AlignedBytes {
    let mut memory = zeroed::<T>(shape);
    memory.as_mut().fill(0xee);
    memory
}

#[test]
fn constants_have_their_values_and_their_texts() {
    assert_eq!(Constants::TEXT, "it's \"quoted\"");
    assert_eq!((Constants::BRACES, Constants::EMPTY), ("{} {0}", ""));
    assert_eq!(
        (Constants::INT8, Constants::UINT8, Constants::INT64, Constants::UINT64),
        (-128, 255, i64::MIN, u64::MAX)
    );
    assert_eq!((Constants::FLOAT32, Constants::FLOAT64, Constants::WHOLE), (-1.5, 1e-300, 3.0));
    assert_eq!((Constants::YES, Constants::BYTE, Constants::CHAR), (true, 255, 65));
    assert_eq!((Constants::TYPE_NAME, <Constants as Message>::TYPE_NAME), (1, "ugly_msgs/msg/Constants"));
    assert_eq!(OnlyConstants::ONE, 1);
}

#[test]
fn definitions_keep_their_lines() {
    for line in <Keywords as Message>::DEFINITION.lines() {
        assert_eq!(line, line.trim(), "no line is moved");
    }
    assert!(
        <Comments as Message>::DEFINITION.starts_with("int32 a\nstring b \"x\"\nfloat64 c\nuint8[] d\n"),
        "{}",
        <Comments as Message>::DEFINITION
    );
}

#[test]
fn defaults_are_in_owned_messages_and_in_built_ones() {
    let owned = Defaults::default();
    assert_eq!((owned.yes, owned.no, owned.least, owned.most, owned.hex), (true, false, -128, 255, 127));
    assert_eq!((owned.low, owned.high, owned.f, owned.g, owned.whole), (i64::MIN, u64::MAX, -1.5e-3, 1e300, 3.0));
    assert_eq!(
        (owned.b, owned.c, owned.t.as_str(), owned.w.as_str(), owned.short.as_str()),
        (7, 65, "it", "wide é", "five!")
    );
    assert_eq!(
        (owned.list.as_slice(), owned.array, owned.some.as_slice()),
        (&[1, -2, 3][..], [1, 2, 3], &[1.0, 2.5][..])
    );
    assert_eq!(
        (owned.texts.as_slice(), owned.two),
        (&["a".to_owned(), "b".into(), "c]".into()][..], ["x".into(), "y".into()])
    );
    assert_eq!((owned.flags.as_slice(), owned.long, owned.zeros), (&[true, false][..], [0; 40], [0.0; 33]));

    let shape = DefaultsShape::default();
    let built = Defaults::build(used::<Defaults>(shape), shape).unwrap();
    assert_eq!(*gantry_cdr::View::to_message(&built).unwrap(), Defaults::default());
    assert_eq!((built.yes(), built.no(), built.least(), built.most(), built.hex()), (true, false, -128, 255, 127));
    assert_eq!(
        (built.low(), built.high(), built.f(), built.g(), built.whole()),
        (i64::MIN, u64::MAX, -1.5e-3, 1e300, 3.0)
    );
    assert_eq!(
        (built.b(), built.c(), built.s(), built.t(), built.short()),
        (7, 65, Defaults::default().s.as_str(), "it", "five!")
    );
    assert!(built.w() == *"wide é");
    assert_eq!((PlainDefaults::default().gain, PlainDefaults::default().pair), (1.5, [-1, 2]));
}

#[test]
fn values_need_not_be_finite() {
    assert!(NotFinite::NAN.is_nan());
    assert_eq!((NotFinite::INF, NotFinite::WIDE), (f64::NEG_INFINITY, f32::INFINITY));
    let owned = NotFinite::default();
    assert_eq!((owned.most, owned.least, owned.three[1]), (f64::INFINITY, f32::NEG_INFINITY, f32::INFINITY));
    assert!(owned.unknown.is_nan() && owned.three[0].is_nan());
    let shape = NotFiniteShape::default();
    let built = NotFinite::build(used::<NotFinite>(shape), shape).unwrap();
    assert_eq!((built.most(), built.least(), built.three()[2]), (f64::INFINITY, f32::NEG_INFINITY, 1.0));
    assert!(built.unknown().is_nan() && built.three()[0].is_nan());
    assert_eq!((built.some(), built.cut()), (&[f64::INFINITY, f64::NEG_INFINITY][..], "\"a"));
    let plain = PlainNotFinite::build(used::<PlainNotFinite>(()), ()).unwrap();
    assert_eq!((plain.most, plain.two[1]), (f64::INFINITY, f32::NEG_INFINITY));
}

#[test]
fn a_plain_message_in_place_starts_from_its_defaults() {
    let built = PlainDefaults::build(used::<PlainDefaults>(()), ()).unwrap();
    assert_eq!(*built, PlainDefaults::default());
    let built = NestedDefaults::build(used::<NestedDefaults>(()), ()).unwrap();
    assert_eq!(*built, NestedDefaults::default());
    assert_eq!((built.one.gain, built.two[1].pair), (1.5, [-1, 2]));
    let shape = ListedDefaultsShape { many: 3, ..ListedDefaultsShape::DEFAULT };
    let built = ListedDefaults::build(used::<ListedDefaults>(shape), shape).unwrap();
    assert_eq!((built.one().gain, built.many()[2].gain, built.two()[1].id), (1.5, 1.5, 7));
    let uninit = PlainDefaults::build_uninit(used::<PlainDefaults>(()), ()).unwrap();
    assert_eq!(uninit.id, 0xeeee_eeee_eeee_eeee, "the caller writes every number");
}

#[test]
fn only_large_arrays_and_sequences_keep_the_bytes_of_the_memory() {
    let built = Sizes::build(used::<Sizes>(()), ()).unwrap();
    assert_eq!((built.before, built.after.gain), (3.0, 1.5));
    assert_eq!((built.small, built.large), ([0.0; 512], [f64::from_bits(0xeeee_eeee_eeee_eeee); 513]));
    assert_eq!((built.few[101].gain, built.many[0].id), (1.5, 0xeeee_eeee_eeee_eeee));
    let shape = SequencesShape { small: 512, large: 513 };
    let built = Sequences::build(used::<Sequences>(shape), shape).unwrap();
    assert!(built.small().iter().all(|number| *number == 0.0));
    assert!(built.large().iter().all(|number| number.to_bits() == 0xeeee_eeee_eeee_eeee));
    assert!(built.sizes().small.iter().all(|number| *number == 0.0));
    assert!(built.sizes().large.iter().all(|number| number.to_bits() == 0xeeee_eeee_eeee_eeee));
}

#[test]
fn sequences_start_from_the_defaults_of_their_first_elements() {
    let shape = DefaultsShape { list: 5, some: 1, flags: 3, texts: &["t"][..], ..DefaultsShape::default() };
    let built = Defaults::build(used::<Defaults>(shape), shape).unwrap();
    assert_eq!(
        (built.list(), built.some(), built.flags()),
        (&[1, -2, 3, 0, 0][..], &[1.0][..], &[true, false, false][..])
    );
    assert_eq!((built.array(), built.texts().next(), built.two().last()), (&[1, 2, 3][..], Some("t"), Some("y")));
}

#[test]
fn fields_of_any_name_are_written_and_read() {
    let shape = KeywordsShape {
        r#match: "m",
        self_: 3,
        r#dyn: &[StringShape { text: "inner", numbers: 2 }][..],
        r#yield: &["a", "b"],
        layout: "l",
        start: 1,
        fmt: "f",
        clone: "c",
        ..KeywordsShape::default()
    };
    let mut view = Keywords::build(zeroed::<Keywords>(shape), shape).unwrap();
    view.set_type(1);
    view.set_super(true);
    view.set_crate(0.5);
    view.set_memory(2);
    view.set_len(3);
    view.set_to_message(4);
    view.set_into_parts(5);
    view.self_mut().copy_from_slice(&[7, 8, 9]);
    view.start_mut()[0] = 6;
    view.async_mut().x = 1.5;
    view.await_mut()[1].z = 2.5;
    view.dyn_mut().next().unwrap().set_yes(true);
    assert_eq!(
        (view.r#type(), view.r#match(), view.self_(), view.super_(), view.crate_()),
        (1, "m", &[7, 8, 9][..], true, 0.5)
    );
    assert_eq!((view.memory(), view.layout(), view.start(), view.len(), view.fmt()), (2, "l", &[6][..], 3, "f"));
    assert_eq!((view.to_message(), view.into_parts(), view.clone()), (4, 5, "c"));
    assert_eq!((view.r#async().x, view.r#await()[1].z, view.r#yield().last()), (1.5, 2.5, Some("b")));
    assert!(view.r#dyn().next().unwrap().yes());
    let owned = gantry_cdr::View::to_message(&view).unwrap();
    assert_eq!(format!("{view:?}"), format!("{owned:?}"));
    assert_eq!(owned.to_cdr().unwrap()[4..], *gantry_cdr::View::memory(&view).as_ref());
    assert_eq!(r#try::msg::Loop { r#while: 1 }.r#while, 1);
}

#[test]
fn a_message_larger_than_the_stack_is_made_and_viewed() {
    let work = || {
        let fixed = Fixed::new_box();
        let cdr = fixed.to_cdr().unwrap();
        let body = AlignedBytes::copy_of(&cdr[4..]);
        let view = Fixed::view(&body).unwrap();
        assert_eq!((view.bytes().len(), gantry_cdr::View::to_message(&view).unwrap().id), (5_000_000, 0));
        assert_eq!(Fixed::from_cdr(&cdr).unwrap().bytes.len(), 5_000_000);
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn empty_messages_have_a_byte() {
    assert_eq!(Empty::default().to_cdr().unwrap(), [0, 1, 0, 0, 0]);
    let shape = NestsEmptyShape { many: 2 };
    let view = NestsEmpty::build(zeroed::<NestsEmpty>(shape), shape).unwrap();
    assert_eq!((view.many().len(), gantry_cdr::View::memory(&view).as_ref().len()), (2, 14));
}

#[test]
fn a_message_with_a_text_may_be_larger_than_a_stack() {
    let cdr = Large { name: "a".into(), ..Large::default() }.to_cdr().unwrap();
    let large = Large::from_cdr(&cdr).unwrap();
    assert_eq!((large.name.as_str(), large.bytes.len()), ("a", 5_000_000));
}

#[test]
fn a_setter_gives_way_to_a_field_of_its_name() {
    let shape = SettersShape { data_mut: "text" };
    let mut setters = Setters::build(zeroed::<Setters>(shape), shape).unwrap();
    setters.set_x_(1);
    setters.set_set_x(2);
    setters.data_mut_().fill(3);
    assert_eq!((setters.x(), setters.set_x(), setters.data(), setters.data_mut()), (1, 2, &[3; 4][..], "text"));
}
