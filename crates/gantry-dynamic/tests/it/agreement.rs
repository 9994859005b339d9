//! Tests that a dynamic view and `gantry-cdr`'s views refuse the same bytes for each kind of field, with the same
//! field, offset and sentence. (`gantry-msgs` has the same test for each of its messages.)

use super::message_type;
use fastrand::Rng;
use gantry_cdr::{
    AlignedBytes,
    ByteOrder::LittleEndian,
    Composer, Cursor, Input, Kind, Message, PlainMessage, Result, View,
    kind::{Array, FixedList, List, Number, Slice, Text, WideText},
    zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout},
};
use gantry_dynamic::testing::random_body;

const DEFINITION: &str =
    "bool flag\nstring<=9 text\nfloat64 number\nPoint point\nPoint[<=8] points\nuint16[3] shorts\n\
    wstring<=9 wide\nbool[] flags\nfloat64[] numbers\nbool[2] pair\nstring<=4[] texts\nwstring[2] wides\nuint32 last
===
MSG: test/Point
float32 x
float32 y";

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
#[zerocopy(crate = "gantry_cdr::zerocopy")]
struct Point {
    x: f32,
    y: f32,
}

impl PlainMessage for Point {
    const TYPE_NAME: &'static str = "test/msg/Point";
    const DEFINITION: &'static str = "float32 x\nfloat32 y\n";
}

/// A message type in the form of generated code. Only its view is used.
#[derive(Debug)]
struct Test;

impl Kind for Test {
    type Owned = Self;
    type Layout = Start;
    type Ref<'a> = ();
    type Mut<'a> = ();

    fn locate(cursor: &mut Cursor<'_>) -> Result<Start> {
        cursor.field::<Number<bool>>("flag")?;
        cursor.field::<Text<9>>("text")?;
        cursor.field::<Number<f64>>("number")?;
        cursor.field::<Point>("point")?;
        cursor.field::<Slice<Point, 8>>("points")?;
        cursor.field::<Array<u16, 3>>("shorts")?;
        cursor.field::<WideText<9>>("wide")?;
        cursor.field::<Slice<bool>>("flags")?;
        cursor.field::<Slice<f64>>("numbers")?;
        cursor.field::<Array<bool, 2>>("pair")?;
        cursor.field::<List<Text<4>>>("texts")?;
        cursor.field::<FixedList<WideText, 2>>("wides")?;
        cursor.field::<Number<u32>>("last")?;
        Ok(Start)
    }

    fn get(_: &[u8], _: Start) {}

    fn get_mut(_: &mut [u8], _: Start) {}

    fn write(_: &Self, _: &mut Composer<'_>) -> Result<()> {
        unimplemented!("never called")
    }

    fn read(_: &mut Self, _: &mut Input<'_>) -> Result<()> {
        unimplemented!("never called")
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Start;

struct TestView<B>(B);

impl<B> View<B> for TestView<B> {
    type Message = Test;
    type Target = ();

    fn target(&self) -> &() {
        &()
    }

    fn target_mut(&mut self) -> &mut () {
        unimplemented!("never called")
    }

    fn memory(&self) -> &B {
        &self.0
    }

    fn into_parts(self) -> (B, Start) {
        (self.0, Start)
    }

    fn to_message(&self) -> Result<Box<Test>> {
        Ok(Test::new_box())
    }
}

impl Message for Test {
    const TYPE_NAME: &'static str = "test/msg/Test";
    const DEFINITION: &'static str = DEFINITION;
    const TYPE_HASH: [u8; 32] = [0; 32];
    const MAX_BYTES: usize = usize::MAX;
    type View<B: AsRef<[u8]>> = TestView<B>;

    fn in_memory<B: AsRef<[u8]>>(memory: B, _: Start) -> TestView<B> {
        TestView(memory)
    }

    fn new_box() -> Box<Self> {
        Box::new(Self)
    }
}

#[test]
fn both_views_refuse_the_same_damage() {
    let test = message_type(DEFINITION);
    let mut rng = Rng::with_seed(3);
    let mut refused = std::collections::BTreeSet::new();
    for _ in 0..4000 {
        let mut body = random_body(&test, &mut rng, LittleEndian);
        for _ in 0..rng.usize(..3) {
            let at = rng.usize(..body.len());
            body[at] = if rng.bool() { rng.u8(..12) } else { rng.u8(..) };
        }
        match rng.u8(..4) {
            0 => body.truncate(rng.usize(..body.len())),
            1 => body.extend(std::iter::repeat_n(0, rng.usize(..6))),
            _ => {}
        }
        let typed = Test::view(AlignedBytes::copy_of(&body)).err();
        let dynamic = test.view(&body, LittleEndian).err();
        assert_eq!(dynamic, typed, "of {body:?}");
        refused.extend(typed.map(|error| error.path().to_owned()));
    }
    // Each field must have been the wrong one in some of the damaged messages.
    for field in &test.definition().fields {
        assert!(refused.iter().any(|path| path.starts_with(&field.name)), "`{}` was never wrong", field.name);
    }
}
