//! Loans in structs of a program's.
//!
//! Invariant: `reserved` holds a loan of the library if and only if `data` is not null and `owner` is this library.

use super::*;
use gantry::GenericLoan;
use std::ptr::{null, null_mut};

const _: () = assert!(size_of::<GenericLoan>() <= size_of::<[u64; 4]>() && align_of::<GenericLoan>() <= 8);

/// This library.
static OWN: gantry_loan_owner =
    gantry_loan_owner { struct_size: size_of::<gantry_loan_owner>(), return_loan: Some(return_loan) };

/// Makes a struct empty.
///
/// # Errors
/// It is null.
///
/// # Safety
/// Null or memory for the struct.
pub unsafe fn clear(loan: *mut gantry_loan) -> Result<()> {
    if loan.is_null() {
        return Err(Failure::null("loan"));
    }
    // SAFETY: the promise of the caller.
    unsafe { loan.write(gantry_loan { data: null_mut(), size: 0, owner: null(), reserved: [0; 4] }) };
    Ok(())
}

/// Puts a loan into an empty struct.
///
/// # Safety
/// An empty struct.
pub unsafe fn write(loan: *mut gantry_loan, mut made: GenericLoan) {
    let bytes = made.bytes_mut();
    let (data, size) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: the promise of the caller.
    let target = unsafe { &raw mut (*loan).reserved };
    // SAFETY: the memory is large enough and aligned (asserted above).
    unsafe { target.cast::<GenericLoan>().write(made) };
    // SAFETY: the promise of the caller.
    unsafe { (&raw mut (*loan).owner).write(from_ref(&OWN)) };
    // SAFETY: as above.
    unsafe { (&raw mut (*loan).size).write(size) };
    // SAFETY: as above.
    unsafe { (&raw mut (*loan).data).write(data) };
}

/// Takes a loan out of a struct, which is empty then.
///
/// # Errors
/// It is null, it is empty, or another library made it.
///
/// # Safety
/// Null or a struct with a loan or without.
pub unsafe fn take(loan: *mut gantry_loan) -> Result<GenericLoan> {
    // SAFETY: the promise of the caller.
    let given = unsafe { argument("loan", loan.cast_const()) }?;
    if given.data.is_null() {
        return Err(Failure::invalid("the loan is empty: it was published or returned already; loan again"));
    }
    if !std::ptr::eq(given.owner, &raw const OWN) {
        return Err(Failure::invalid("another library made the loan: publish it there, or return it and loan again"));
    }
    // SAFETY: the invariant; the struct becomes empty.
    let taken = unsafe { (&raw const (*loan).reserved).cast::<GenericLoan>().read() };
    // SAFETY: the promise of the caller.
    unsafe { clear(loan) }?;
    Ok(taken)
}

/// # Safety
/// A loan of this library, or an empty one.
unsafe extern "C" fn return_loan(loan: *mut gantry_loan) -> gantry_status {
    // SAFETY: the promise of the caller.
    let returned = run(c"return_loan of rmw_gantry", || unsafe { take(loan) }.map(drop));
    if returned == RMW_RET_OK { 0 } else { -1 }
}
