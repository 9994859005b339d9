//! Content filters of subscriptions.

use crate::{
    allocator::Allocator,
    entities::{ContentFilter, Subscription},
    failure::run,
    handle::{argument, entity, output, text},
};
use gantry::TypeDescription;
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::{ffi::c_char, slice};

/// Returns the content filter in the options of a new subscription; `None` if the options have none.
///
/// # Errors
/// The expression is not a filter for messages of this type.
///
/// # Safety
/// `options` is null, or points to options that no thread writes during the call.
pub unsafe fn requested(
    options: *const rmw_subscription_content_filter_options_t,
    description: &TypeDescription,
) -> Result<Option<ContentFilter>> {
    // SAFETY: the promise of the caller.
    match unsafe { options.as_ref() } {
        // SAFETY: as above.
        Some(options) if !options.filter_expression.is_null() => unsafe { filter(options, description) },
        _ => Ok(None),
    }
}

/// Returns the content filter in the options; `None` if the expression is empty, which means that no filter is wanted.
///
/// # Safety
/// No thread writes the options during the call.
unsafe fn filter(
    options: &rmw_subscription_content_filter_options_t,
    description: &TypeDescription,
) -> Result<Option<ContentFilter>> {
    // SAFETY: the promise of the caller.
    let expression = unsafe { text("options.filter_expression", options.filter_expression) }?;
    if expression.is_empty() {
        return Ok(None);
    }
    let rcutils_string_array_t { size, data, .. } = options.expression_parameters;
    let parameters: &[*mut c_char] = match size {
        0 => &[],
        _ if data.is_null() => return Err(Failure::null("options.expression_parameters.data")),
        // SAFETY: as above: `data` points to an array of `size` elements.
        _ => unsafe { slice::from_raw_parts(data, size) },
    };
    let parameters = parameters.iter().map(|parameter| {
        // SAFETY: as above: the elements of the array are strings.
        unsafe { text("options.expression_parameters", *parameter) }.map(str::to_owned)
    });
    ContentFilter::new(description, expression, parameters.collect::<Result<_>>()?).map(Some)
}

/// An empty expression removes the filter. A new filter applies at once, and also to messages that have arrived
/// already.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_set_content_filter(
    subscription: *mut rmw_subscription_t,
    options: *const rmw_subscription_content_filter_options_t,
) -> rmw_ret_t {
    run(c"rmw_subscription_set_content_filter", || {
        // SAFETY: the contract of rmw.
        let found: &Subscription = unsafe { entity(subscription.cast_const()) }?;
        // SAFETY: as above.
        let options = unsafe { argument("options", options) }?;
        // SAFETY: as above.
        let filter = unsafe { filter(options, found.message_type.description()) }?;
        let is_enabled = filter.is_some();
        found.set_filter(filter)?;
        // SAFETY: as above: the handle belongs to this library, and the program reads its fields on this thread only.
        unsafe { (*subscription).is_cft_enabled = is_enabled };
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_get_content_filter(
    subscription: *const rmw_subscription_t,
    allocator: *mut rcutils_allocator_t,
    options: *mut rmw_subscription_content_filter_options_t,
) -> rmw_ret_t {
    run(c"rmw_subscription_get_content_filter", || {
        // SAFETY: the contract of rmw.
        let subscription = unsafe { entity(subscription) }?;
        // SAFETY: as above.
        let allocator = unsafe { Allocator::new(allocator) }?;
        // SAFETY: as above.
        let mut options = unsafe { output("options", options) }?;
        let no_filter = || Failure::error("the subscription has no content filter");
        let (expression, parameters) = subscription.with_filter(|filter| {
            let ContentFilter { expression, parameters, .. } = filter.ok_or_else(no_filter)?;
            Ok((expression.clone(), parameters.clone()))
        })?;
        let expression_parameters = allocator.string_array(&parameters)?;
        match allocator.string(expression.as_bytes()) {
            Ok(filter_expression) => {
                options.set(rmw_subscription_content_filter_options_t { filter_expression, expression_parameters });
                Ok(())
            }
            Err(failure) => {
                // SAFETY: the array was made above, and no other code uses it.
                unsafe { allocator.free_string_array(&expression_parameters) };
                Err(failure)
            }
        }
    })
}
