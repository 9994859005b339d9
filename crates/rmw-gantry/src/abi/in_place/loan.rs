//! Loans in `gantry_loan` structs, whose memory the program provides. A loan is memory for one message.
//!
//! Invariant: `reserved` holds a loan of the library if and only if `data` is not null and `owner` is this library.

use super::*;
use gantry::GenericLoan;
use std::ptr::{null, null_mut};

const _: () = assert!(size_of::<GenericLoan>() <= size_of::<[u64; 4]>() && align_of::<GenericLoan>() <= 8);

/// Marks the structs whose loan this library made.
static OWN: gantry_loan_owner =
    gantry_loan_owner { struct_size: size_of::<gantry_loan_owner>(), return_loan: Some(return_loan) };

/// Sets the program's struct to the empty state, and returns a reference to the struct.
///
/// # Errors
/// `loan` is null.
///
/// # Safety
/// `loan` is null, or points to memory for the struct. No other code uses this memory as long as the result is used.
pub unsafe fn clear<'a>(loan: *mut gantry_loan) -> Result<&'a mut gantry_loan> {
    // SAFETY: the promise of the caller.
    unsafe { output("loan", loan) }?.set(EMPTY);
    // SAFETY: as above; the struct was initialized just now.
    unsafe { in_out("loan", loan) }
}

const EMPTY: gantry_loan = gantry_loan { data: null_mut(), size: 0, owner: null(), reserved: [0; 4] };

/// Puts a loan into an empty struct. The struct does not move during the call.
pub fn write(loan: &mut gantry_loan, mut made: GenericLoan) {
    let bytes = made.bytes_mut();
    (loan.data, loan.size, loan.owner) = (bytes.as_mut_ptr().cast(), bytes.len(), &raw const OWN);
    // SAFETY: the memory is large enough and aligned (asserted above).
    unsafe { (&raw mut loan.reserved).cast::<GenericLoan>().write(made) };
}

/// Moves the loan out of a struct, which is empty afterwards.
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
    // SAFETY: by the invariant, the struct holds a loan. The struct becomes empty, so no second read of the loan
    // happens.
    let taken = unsafe { (&raw const loan.reserved).cast::<GenericLoan>().read() };
    *loan = EMPTY;
    Ok(taken)
}

/// # Safety
/// `loan` is null, or points to a struct that is empty or holds a loan of this library.
unsafe extern "C" fn return_loan(loan: *mut gantry_loan) -> gantry_status {
    let returned = run(c"return_loan of rmw_gantry", || {
        // SAFETY: the promise of the caller.
        drop(take(unsafe { in_out("loan", loan) }?)?);
        Ok(())
    });
    if returned == RMW_RET_OK { 0 } else { -1 }
}
