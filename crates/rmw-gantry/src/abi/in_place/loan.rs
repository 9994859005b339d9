//! Loans of messages in `gantry_loan` structs, which the program provides.
//!
//! Invariant: `reserved` holds a loan of the library if and only if `data` is not null and `owner` is this library.

use super::*;
use gantry::GenericLoan;
use std::ptr::{null, null_mut};

const _: () = assert!(size_of::<GenericLoan>() <= size_of::<[u64; 4]>() && align_of::<GenericLoan>() <= 8);

/// The owner of loans that this library made.
static OWN: gantry_loan_owner =
    gantry_loan_owner { struct_size: size_of::<gantry_loan_owner>(), return_loan: Some(return_loan) };

/// Makes the program's struct empty, and returns a reference to the struct.
///
/// # Errors
/// `loan` is null.
///
/// # Safety
/// `loan` is null, or memory for the struct, which no other code uses as long as the result is used.
pub unsafe fn clear<'a>(loan: *mut gantry_loan) -> Result<&'a mut gantry_loan> {
    // SAFETY: the promise of the caller.
    unsafe { output("loan", loan) }?.set(EMPTY);
    // SAFETY: as above; the struct was initialized just now.
    unsafe { in_out("loan", loan) }
}

const EMPTY: gantry_loan = gantry_loan { data: null_mut(), size: 0, owner: null(), reserved: [0; 4] };

/// Puts a loan into an empty struct, which does not move during the call.
pub fn write(loan: &mut gantry_loan, mut made: GenericLoan) {
    let bytes = made.bytes_mut();
    (loan.data, loan.size, loan.owner) = (bytes.as_mut_ptr().cast(), bytes.len(), &raw const OWN);
    // SAFETY: the memory is large enough and aligned (asserted above).
    unsafe { (&raw mut loan.reserved).cast::<GenericLoan>().write(made) };
}

/// Takes a loan out of a struct, which becomes empty.
///
/// # Errors
/// The struct is empty, or another library made the loan.
pub fn take(loan: &mut gantry_loan) -> Result<GenericLoan> {
    if loan.data.is_null() {
        return Err(Failure::invalid("the loan is empty: it was published or returned already; loan again"));
    }
    if !std::ptr::eq(loan.owner, &raw const OWN) {
        return Err(Failure::invalid(
            "another library made the loan: publish or return the loan with that library, and take a new loan from \
             this library",
        ));
    }
    // SAFETY: the invariant; the struct becomes empty.
    let taken = unsafe { (&raw const loan.reserved).cast::<GenericLoan>().read() };
    *loan = EMPTY;
    Ok(taken)
}

/// # Safety
/// `loan` is null, or a struct with a loan of this library, or an empty one.
unsafe extern "C" fn return_loan(loan: *mut gantry_loan) -> gantry_status {
    let returned = run(c"return_loan of rmw_gantry", || {
        // SAFETY: the promise of the caller.
        drop(take(unsafe { in_out("loan", loan) }?)?);
        Ok(())
    });
    if returned == RMW_RET_OK { 0 } else { -1 }
}
