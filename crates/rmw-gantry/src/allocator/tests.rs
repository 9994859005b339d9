use super::*;
use std::{
    collections::BTreeMap,
    ffi::CStr,
    sync::atomic::{AtomicUsize, Ordering::*},
};

/// An allocator that fails after a given number of allocations. It counts the allocations that are not freed.
#[derive(Default)]
struct Limited {
    left: AtomicUsize,
    allocated: AtomicUsize,
}

impl Limited {
    fn new(left: usize) -> Limited {
        Limited { left: left.into(), ..Limited::default() }
    }

    fn allocator(&self) -> Allocator {
        let c = rcutils_allocator_t {
            allocate: Some(allocate),
            deallocate: Some(deallocate),
            reallocate: Some(reallocate),
            zero_allocate: Some(zero_allocate),
            state: std::ptr::from_ref(self).cast_mut().cast(),
        };
        // SAFETY: the state of the allocator is `self`, which lives longer in each test than the allocated values.
        unsafe { Allocator::new(&c) }.unwrap()
    }

    fn allocated(&self) -> usize {
        self.allocated.load(Relaxed)
    }
}

unsafe extern "C" fn allocate(_size: usize, _state: *mut c_void) -> *mut c_void {
    unreachable!("zeroed memory only")
}

unsafe extern "C" fn reallocate(_pointer: *mut c_void, _size: usize, _state: *mut c_void) -> *mut c_void {
    unreachable!("zeroed memory only")
}

unsafe extern "C" fn deallocate(pointer: *mut c_void, state: *mut c_void) {
    // SAFETY: the state of `Limited::allocator`.
    let limited = unsafe { &*state.cast::<Limited>() };
    assert!(!pointer.is_null());
    limited.allocated.fetch_sub(1, Relaxed);
    // SAFETY: memory of `zero_allocate`.
    unsafe { libc::free(pointer) };
}

unsafe extern "C" fn zero_allocate(count: usize, size: usize, state: *mut c_void) -> *mut c_void {
    // SAFETY: the state of `Limited::allocator`.
    let limited = unsafe { &*state.cast::<Limited>() };
    if limited.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
        return std::ptr::null_mut();
    }
    limited.allocated.fetch_add(1, Relaxed);
    // SAFETY: a plain allocation.
    unsafe { libc::calloc(count, size) }
}

fn names() -> BTreeMap<String, Vec<String>> {
    let entry = |name: &str, types: &[&str]| (name.to_owned(), types.iter().map(|name| (*name).to_owned()).collect());
    [entry("/chatter", &["std_msgs/msg/String"]), entry("/mixed", &["a/msg/A", "b/msg/B"]), entry("/untyped", &[])]
        .into()
}

/// Returns a reference to an element of the array.
fn element<'a, T>(array: *mut T, index: usize) -> &'a T {
    // SAFETY: the tests pass only indices of elements that the array has.
    let place = unsafe { array.add(index) };
    // SAFETY: as above; no code writes the element.
    unsafe { &*place }
}

fn text<'a>(string: *const c_char) -> &'a CStr {
    // SAFETY: the tests pass only strings that were set.
    unsafe { CStr::from_ptr(string) }
}

/// Calls `build` with an allocator for 0 allocations, then 1, 2 and so on, until `build` succeeds. No memory may stay
/// allocated after a failure.
fn succeeds_or_leaves_nothing<T>(build: impl Fn(Allocator) -> Result<T>, free: impl Fn(Allocator, T)) {
    for count in 0.. {
        let limited = Limited::new(count);
        match build(limited.allocator()) {
            Ok(made) => {
                assert!(count > 3, "the test has several allocations");
                assert_eq!(limited.allocated(), count);
                free(limited.allocator(), made);
                assert_eq!(limited.allocated(), 0);
                return;
            }
            Err(failure) => {
                assert_eq!(failure.code, RMW_RET_BAD_ALLOC);
                assert_eq!(limited.allocated(), 0, "after {count} allocations");
            }
        }
    }
}

#[test]
fn names_and_types_are_complete_or_nothing() {
    let names = names();
    succeeds_or_leaves_nothing(
        |allocator| allocator.names_and_types(names.iter()),
        |allocator, made| {
            assert_eq!(text(*element(made.names.data, 1)), c"/mixed");
            let types = element(made.types, 1);
            assert_eq!((types.size, text(*element(types.data, 1))), (2, c"b/msg/B"));
            // SAFETY: not used after this.
            unsafe { allocator.free_names_and_types(&made) };
        },
    );
}

#[test]
fn endpoint_infos_are_complete_or_nothing() {
    let names = ["first", "second"];
    succeeds_or_leaves_nothing(
        |allocator| {
            allocator.endpoint_infos(&names, |name, info| {
                info.node_name = allocator.string(name.as_bytes())?;
                info.node_namespace = allocator.string(b"/")?;
                info.topic_type = allocator.string(b"std_msgs/msg/String")?;
                Ok(())
            })
        },
        |allocator, made| {
            assert_eq!(made.size, 2);
            assert_eq!(text(element(made.info_array, 1).node_name), c"second");
            // SAFETY: not used after this.
            unsafe { allocator.free_endpoint_infos(&made) };
        },
    );
}

#[test]
fn nothing_is_allocated_for_nothing() {
    let limited = Limited::new(0);
    let array = limited.allocator().string_array(&[] as &[&str]).unwrap();
    assert_eq!((array.size, array.data.is_null()), (0, true));
    let none = BTreeMap::new();
    let made = limited.allocator().names_and_types(none.iter()).unwrap();
    assert_eq!((made.names.size, made.types.is_null()), (0, true));
}

#[test]
fn an_allocator_that_is_not_initialized_is_refused() {
    let zero = rcutils_allocator_t {
        allocate: None,
        deallocate: None,
        reallocate: None,
        zero_allocate: None,
        state: std::ptr::null_mut(),
    };
    for allocator in [std::ptr::null(), &raw const zero] {
        // SAFETY: null or an allocator.
        let Err(failure) = (unsafe { Allocator::new(allocator) }) else { unreachable!() };
        assert_eq!(failure.code, RMW_RET_INVALID_ARGUMENT);
    }
}
