//! Loans: memory for one message. A loan is a struct that the C program keeps by value, so a message needs no
//! allocation.
//!
//! Invariant: only the library that made a loan ends it. A process may have several libraries that make `gantry_loan`
//! structs: `libgantry.so`, an archive in a plugin, `librmw_gantry.so`.

use crate::{
    abi::{OK, Status},
    border::{
        argument::{exclusive, output},
        failure::{Failure, Result, from_owner, run},
    },
};
use gantry::GenericLoan;
use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ptr::{null, null_mut},
};

/// `gantry_loan`. Zeros mean no loan. The promise H3 is about this struct.
#[repr(C)]
pub struct Loan {
    /// The bytes of the message; NULL if the struct is empty.
    pub data: *mut c_void,
    /// The length of the message in bytes.
    pub size: usize,
    /// The library that made the loan.
    pub owner: *const LoanOwner,
    held: Held,
}

/// `gantry_loan_owner`.
#[repr(C)]
pub struct LoanOwner {
    /// The size of the struct.
    pub struct_size: usize,
    /// Ends a loan.
    pub return_loan: unsafe extern "C" fn(loan: *mut Loan) -> Status,
}

/// The `owner` in the loans that this library made.
static OWN: LoanOwner = LoanOwner { struct_size: size_of::<LoanOwner>(), return_loan: return_own };

/// Memory for a loan of `gantry`. Its size is part of the ABI and never changes.
type Held = MaybeUninit<[u64; 4]>;

const _: () = assert!(size_of::<GenericLoan>() <= size_of::<Held>() && align_of::<GenericLoan>() <= align_of::<Held>());

impl Loan {
    /// Moves a loan into a C struct.
    #[inline]
    pub fn new(mut loan: GenericLoan) -> Loan {
        let bytes = loan.bytes_mut();
        let (data, size) = (bytes.as_mut_ptr().cast(), bytes.len());
        let mut held = Held::zeroed();
        // SAFETY: the memory is large enough and aligned (asserted above).
        unsafe { held.as_mut_ptr().cast::<GenericLoan>().write(loan) };
        Loan { data, size, owner: &raw const OWN, held }
    }

    /// A struct without a loan.
    fn empty() -> Loan {
        Loan { data: null_mut(), size: 0, owner: null(), held: Held::zeroed() }
    }

    fn is_own(&self) -> bool {
        std::ptr::eq(self.owner, &raw const OWN)
    }

    /// The owner of the loan, if another library made the loan.
    #[inline]
    fn other_owner(&self) -> Option<&LoanOwner> {
        match self.data.is_null() || self.is_own() {
            true => None,
            // SAFETY: H3: `owner` is the library that made the loan, and stays loaded until the loan is returned.
            false => unsafe { self.owner.as_ref() },
        }
    }

    /// Moves a loan of this library out of the struct, which becomes zeros.
    #[inline]
    fn take(&mut self) -> Option<GenericLoan> {
        if self.data.is_null() || !self.is_own() {
            return None;
        }
        // SAFETY: H3: `new` wrote the loan. The loan is not used a second time, because the struct becomes zeros.
        let loan = unsafe { self.held.as_ptr().cast::<GenericLoan>().read() };
        *self = Loan::empty();
        Some(loan)
    }

    /// Moves the loan out of the struct. An empty struct is an error.
    ///
    /// # Errors
    /// The struct is empty, or another library made the loan.
    #[inline]
    pub fn take_required(&mut self) -> Result<GenericLoan> {
        self.take().ok_or_else(|| {
            Failure::invalid(match self.data.is_null() {
                true => "the loan is empty: it was published or returned already, or it was never made; loan again",
                false => {
                    "another library of this process made the loan: publish or return the loan with that library, and \
                     take a new loan from this library"
                }
            })
        })
    }
}

/// Writes the loan that `make` returns into the caller's struct. The struct becomes empty if `make` fails.
///
/// # Safety
/// H2. The function overwrites `loan` without returning a loan in it.
#[inline]
pub unsafe fn give(loan: *mut Loan, make: impl FnOnce() -> Result<GenericLoan>) -> Status {
    run(|| {
        // SAFETY: H2.
        unsafe { output("loan", loan) }?.set(Loan::empty());
        // SAFETY: H2; the struct was initialized just now.
        *unsafe { exclusive("loan", loan) }? = Loan::new(make()?);
        Ok(OK)
    })
}

/// # Safety
/// H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_loan_return(loan: *mut Loan) -> Status {
    run(|| {
        // SAFETY: H3.
        let given = unsafe { exclusive("loan", loan) }?;
        if let Some(owner) = given.other_owner() {
            // SAFETY: H3: the library `owner` made the loan.
            return from_owner(unsafe { (owner.return_loan)(loan) }, "returned no loan");
        }
        drop(given.take());
        Ok(OK)
    })
}

/// # Safety
/// H3; `loan` holds a loan of this library.
unsafe extern "C" fn return_own(loan: *mut Loan) -> Status {
    run(|| {
        // SAFETY: H3.
        drop(unsafe { exclusive("loan", loan) }?.take());
        Ok(OK)
    })
}
