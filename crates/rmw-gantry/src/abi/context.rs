//! `rmw_init`, `rmw_shutdown`, `rmw_context_fini`.

use super::init_options::{DEFAULT_DOMAIN_ID, copy_options, free_options};
use crate::{
    allocator::Allocator,
    entities::Context,
    failure::run,
    handle::{IDENTIFIER, argument, check_identifier, entity, in_out, text},
};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    in_layout,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// The new context does not join its domain: the first node or wait set of the context joins it.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_init(options: *const rmw_init_options_t, context: *mut rmw_context_t) -> rmw_ret_t {
    run(c"rmw_init", || {
        // SAFETY: the contract of rmw.
        in_layout!(init(options.cast(), context.cast()))
    })
}

/// # Safety
/// The same as for `rmw_init`.
unsafe fn init<L: Layout>(options: *const rmw_init_options_of<L>, context: *mut rmw_context_of<L>) -> Result<()> {
    // SAFETY: the contract of rmw.
    let options = unsafe { argument("options", options) }?;
    // SAFETY: as above.
    let context = unsafe { in_out("context", context) }?;
    // SAFETY: as above.
    unsafe { check_identifier("init options", options.implementation_identifier) }?;
    if options.enclave.is_null() {
        return Err(Failure::invalid("the init options have no enclave: rcl sets it, to \"/\" by default"));
    }
    if !context.implementation_identifier.is_null() {
        return Err(Failure::invalid("the context is initialized already: rmw_init needs a zero-initialized one"));
    }
    if options.security_options.enforce_security == RMW_SECURITY_ENFORCEMENT_ENFORCE {
        return Err(Failure::unsupported(
            "enforced security options (ROS_SECURITY_STRATEGY=Enforce): shared memory is protected by the rights of its user \
             alone, so they",
        ));
    }
    // SAFETY: as above.
    let enclave = unsafe { text("enclave", options.enclave) }?;
    let domain_id = if options.domain_id == DEFAULT_DOMAIN_ID { 0 } else { options.domain_id };
    let mut joined_id = checked_domain(domain_id)?;
    if options.discovery_options.automatic_discovery_range == RMW_AUTOMATIC_DISCOVERY_RANGE_OFF {
        joined_id = gantry::private_domain_id()?; // no other context has this domain
    }
    let entity = Context::new(joined_id, enclave);
    // SAFETY: as above; the options of a new context are zero.
    unsafe { copy_options(options, &mut context.options) }?;
    context.instance_id = options.instance_id;
    context.actual_domain_id = domain_id;
    context.implementation = Arc::into_raw(Arc::new(entity)).cast_mut().cast();
    context.implementation_identifier = IDENTIFIER.as_ptr();
    Ok(())
}

fn checked_domain(domain_id: usize) -> Result<u32> {
    let checked = u32::try_from(domain_id).ok().filter(|id| *id <= gantry::MAX_DOMAIN_ID);
    checked.ok_or_else(|| {
        let most = gantry::MAX_DOMAIN_ID;
        Failure::invalid(format_args!(
            "the domain is {domain_id}; choose one from 0 to {most}, for example by ROS_DOMAIN_ID"
        ))
    })
}

/// The nodes and endpoints of the context work until they are destroyed.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_shutdown(context: *mut rmw_context_t) -> rmw_ret_t {
    run(c"rmw_shutdown", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(context.cast_const()) }?.shut_down();
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_context_fini(context: *mut rmw_context_t) -> rmw_ret_t {
    run(c"rmw_context_fini", || {
        // SAFETY: the contract of rmw.
        let finished = unsafe { entity(context.cast_const()) }?;
        if !finished.is_shut_down() {
            return Err(Failure::invalid("the context is not shut down; call rmw_shutdown before rmw_context_fini"));
        }
        let nodes = finished.nodes.load(Relaxed); // Relaxed: the count orders no other memory
        if nodes > 0 {
            return Err(Failure::error(format_args!(
                "{nodes} nodes of the context are not destroyed yet; destroy them before rmw_context_fini"
            )));
        }
        // SAFETY: as above: `entity` has checked the pointer and the identifier.
        in_layout!(fini(context.cast()))
    })
}

/// Frees the memory of a context, and sets the context to its zero-initialized state.
///
/// # Safety
/// `context` is an initialized context of this implementation, and no other code uses its entity.
unsafe fn fini<L: Layout>(context: *mut rmw_context_of<L>) -> Result<()> {
    // SAFETY: the promise of the caller.
    let context = unsafe { in_out("context", context) }?;
    // SAFETY: as above; the options are copies that `rmw_init` made.
    unsafe { free_options(&mut context.options) };
    // SAFETY: `rmw_init` made the pointer from an `Arc`, and the context loses the pointer below.
    drop(unsafe { Arc::from_raw(context.implementation.cast_const().cast::<Context>()) });
    // SAFETY: all fields of a context may be zero: they are null pointers, numbers, or `None`.
    *context = unsafe { std::mem::zeroed() };
    Ok(())
}

/// The allocator of a context.
///
/// # Safety
/// `context` is an initialized context of this implementation.
pub unsafe fn allocator_of(context: *const rmw_context_t) -> Result<Allocator> {
    unsafe fn allocator<L: Layout>(context: *const rmw_context_of<L>) -> Result<Allocator> {
        // SAFETY: the promise of the caller.
        let allocator = unsafe { &raw const (*context).options.allocator };
        // SAFETY: as above.
        unsafe { Allocator::new(allocator) }
    }
    // SAFETY: the promise of the caller.
    in_layout!(allocator(context.cast()))
}

/// Returns a new `Arc` of the context behind a handle.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
pub unsafe fn shared_context(context: *const rmw_context_t) -> Result<Arc<Context>> {
    // SAFETY: the promise of the caller.
    let context: *const Context = unsafe { entity(context) }?;
    // SAFETY: `rmw_init` made the pointer from an `Arc`, which lives until `rmw_context_fini`.
    unsafe { Arc::increment_strong_count(context) };
    // SAFETY: as above; the line before raised the reference count for this `Arc`.
    Ok(unsafe { Arc::from_raw(context) })
}
