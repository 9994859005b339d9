//! A message type with two fields of any kinds, in the form of generated code.

use gantry_cdr::{
    AlignedBytes, ByteOrder, Composer, Cursor, Input, Kind, Layout, Message, Result, Shape, View,
    kind::{Number, Slice},
};
use std::fmt::{self, Debug};

/// A message with the fields `first` and `second`.
pub struct Pair<A: Kind, B: Kind> {
    pub first: A::Owned,
    pub second: B::Owned,
}

/// The positions of the fields.
pub struct PairLayout<A: Kind, B: Kind>(u32, Layout<A>, Layout<B>);

impl<A: Kind, B: Kind> Clone for PairLayout<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: Kind, B: Kind> Copy for PairLayout<A, B> {}
impl<A: Kind, B: Kind> PartialEq for PairLayout<A, B> {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1, self.2) == (other.0, other.1, other.2)
    }
}
impl<A: Kind, B: Kind> Debug for PairLayout<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", self.0, self.1, self.2)
    }
}

/// The view of the message.
pub struct PairView<M, A: Kind, B: Kind> {
    pub memory: M,
    pub layout: PairLayout<A, B>,
}

impl<M: AsRef<[u8]>, A: Kind, B: Kind> PairView<M, A, B> {
    pub fn first(&self) -> A::Ref<'_> {
        A::get(self.memory.as_ref(), self.layout.1)
    }

    pub fn second(&self) -> B::Ref<'_> {
        B::get(self.memory.as_ref(), self.layout.2)
    }
}

impl<M: AsMut<[u8]>, A: Kind, B: Kind> PairView<M, A, B> {
    pub fn first_mut(&mut self) -> A::Mut<'_> {
        A::get_mut(self.memory.as_mut(), self.layout.1)
    }

    pub fn second_mut(&mut self) -> B::Mut<'_> {
        B::get_mut(self.memory.as_mut(), self.layout.2)
    }
}

/// The kinds of fields in these tests, with the traits that their owned values need.
pub trait Any: Kind<Owned: Default + Send> + 'static {}
impl<K: Kind<Owned: Default + Send> + 'static> Any for K {}

impl<A: Any, B: Any> Default for Pair<A, B> {
    fn default() -> Self {
        Pair { first: A::Owned::default(), second: B::Owned::default() }
    }
}

impl<A: Any, B: Any> Kind for Pair<A, B> {
    type Owned = Self;
    type Layout = PairLayout<A, B>;
    type Ref<'a> = PairView<&'a [u8], A, B>;
    type Mut<'a> = PairView<&'a mut [u8], A, B>;

    fn locate(cursor: &mut Cursor<'_>) -> Result<Self::Layout> {
        Ok(PairLayout(cursor.position(), cursor.field::<A>("first")?, cursor.field::<B>("second")?))
    }

    fn get(memory: &[u8], layout: Self::Layout) -> Self::Ref<'_> {
        PairView { memory, layout }
    }

    fn get_mut(memory: &mut [u8], layout: Self::Layout) -> Self::Mut<'_> {
        PairView { memory, layout }
    }

    fn write(value: &Self, composer: &mut Composer<'_>) -> Result<()> {
        composer.write::<A>("first", &value.first)?;
        composer.write::<B>("second", &value.second)
    }

    fn read(value: &mut Self, input: &mut Input<'_>) -> Result<()> {
        input.field::<A>("first", &mut value.first)?;
        input.field::<B>("second", &mut value.second)
    }
}

impl<A: Any, B: Any, S: Shape<A>, T: Shape<B>> Shape<Pair<A, B>> for (S, T) {
    fn compose(self, composer: &mut Composer<'_>) -> Result<PairLayout<A, B>> {
        let start = composer.position();
        Ok(PairLayout(start, composer.field::<A>("first", self.0)?, composer.field::<B>("second", self.1)?))
    }
}

impl<A: Any, B: Any, S: Shape<A>, T: Shape<B>> Shape<Pair<A, B>> for &(S, T) {
    fn compose(self, composer: &mut Composer<'_>) -> Result<PairLayout<A, B>> {
        self.clone().compose(composer)
    }
}

impl<A: Any, B: Any> Message for Pair<A, B> {
    const TYPE_NAME: &'static str = "test/msg/Pair";
    const DEFINITION: &'static str = "";
    const TYPE_HASH: [u8; 32] = [0; 32];
    const MAX_BYTES: usize = usize::MAX;
    type View<M: AsRef<[u8]>> = PairView<M, A, B>;

    fn in_memory<M: AsRef<[u8]>>(memory: M, layout: Self::Layout) -> PairView<M, A, B> {
        PairView { memory, layout }
    }

    fn new_box() -> Box<Self> {
        Box::default()
    }
}

impl<M: AsRef<[u8]>, A: Any, B: Any> View<M> for PairView<M, A, B> {
    type Message = Pair<A, B>;
    type Target = Self;

    fn target(&self) -> &Self {
        self
    }

    fn target_mut(&mut self) -> &mut Self
    where
        M: AsMut<[u8]>,
    {
        self
    }

    fn memory(&self) -> &M {
        &self.memory
    }

    fn into_parts(self) -> (M, PairLayout<A, B>) {
        (self.memory, self.layout)
    }

    fn to_message(&self) -> Result<Box<Pair<A, B>>> {
        gantry_cdr::read_at(self.memory.as_ref(), self.layout.0)
    }
}

/// A field and then a `uint8`, whose position shows where the field ends.
pub type Then<A> = Pair<A, Number<u8>>;
/// A sequence of bytes and then a field, so that the field can begin at any offset.
pub type After<B> = Pair<Slice<u8>, B>;

/// Copies the bytes to aligned memory.
pub fn aligned(bytes: &[u8]) -> AlignedBytes {
    AlignedBytes::copy_of(bytes)
}

/// Reads a message from its little-endian bytes (by a view and by a copy) and from its big-endian bytes, and writes
/// each result again. Returns the three messages, which should be equal.
#[track_caller]
pub fn thrice<T: Message>(little: &[u8], big: &[u8]) -> [Box<T>; 3] {
    let viewed = T::view(aligned(little)).unwrap().to_message().unwrap();
    let all = [viewed, from_body(little, ByteOrder::LittleEndian), from_body(big, ByteOrder::BigEndian)];
    for message in &all {
        assert_eq!(body_of::<T>(message), little);
    }
    all
}

pub fn from_body<T: Message>(body: &[u8], order: ByteOrder) -> Box<T> {
    let mut message = T::new_box();
    message.read_body(body, order).unwrap();
    message
}

/// Serialises the message into memory that is not zero before.
pub fn body_of<T: Message>(message: &T) -> Vec<u8> {
    let mut body = vec![0xff; message.body_bytes().unwrap()];
    message.write_body(&mut body).unwrap();
    body
}
