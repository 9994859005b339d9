//! Values of parameters: conversions between C and Rust, and lists for C.

use crate::{
    abi::{self, PARAMETER_NOT_SET},
    border::{
        argument::{self, c_string, shared, text, texts},
        failure::{Failure, Result, run_for},
    },
};
use gantry::{Parameter, ParameterValue};
use std::{
    ffi::{CString, c_char, c_void},
    ptr::{from_ref, null},
};

/// `gantry_parameters`: the structs, and the memory to which they point. Invariant: a list never changes, so the
/// structs stay valid.
pub struct Parameters {
    pub structs: Vec<abi::Parameter>,
    _memory: Vec<Memory>,
}

/// The memory to which a struct points. It stays where it is when the list moves.
struct Memory {
    _name: CString,
    _value: ParameterValue,
    _texts: Vec<CString>,
    _pointers: Vec<*const c_char>,
}

impl Parameters {
    pub fn new(parameters: impl IntoIterator<Item = Parameter>) -> Parameters {
        let (structs, _memory) = parameters.into_iter().map(described).unzip();
        Parameters { structs, _memory }
    }
}

/// Converts a parameter to a struct and the memory to which the struct points.
fn described(Parameter { name, value }: Parameter) -> (abi::Parameter, Memory) {
    let name = c_string(&name);
    let texts: Vec<CString> = match &value {
        ParameterValue::String(text) => vec![c_string(text)],
        ParameterValue::StringArray(texts) => texts.iter().map(|text| c_string(text)).collect(),
        _ => Vec::new(),
    };
    let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    let mut made =
        abi::Parameter { name: name.as_ptr(), value_type: value.parameter_type() as i32, ..abi::Parameter::ZEROS };
    match &value {
        ParameterValue::NotSet => {}
        ParameterValue::Bool(value) => made.bool_value = u8::from(*value),
        ParameterValue::Integer(value) => made.integer_value = *value,
        ParameterValue::Double(value) => made.double_value = *value,
        ParameterValue::String(_) => made.string_value = pointers[0],
        ParameterValue::ByteArray(values) => (made.elements, made.count) = elements(values),
        ParameterValue::BoolArray(values) => (made.elements, made.count) = elements(values),
        ParameterValue::IntegerArray(values) => (made.elements, made.count) = elements(values),
        ParameterValue::DoubleArray(values) => (made.elements, made.count) = elements(values),
        ParameterValue::StringArray(_) => (made.elements, made.count) = elements(&pointers),
    }
    (made, Memory { _name: name, _value: value, _texts: texts, _pointers: pointers })
}

fn elements<T>(values: &[T]) -> (*const c_void, usize) {
    (values.as_ptr().cast(), values.len())
}

/// Converts an array of parameters that the caller passes.
///
/// # Errors
/// The errors of [`parameter`]; `array` is NULL although `count` is not 0.
///
/// # Safety
/// H2.
pub unsafe fn parameters(name: &str, array: *const abi::Parameter, count: usize) -> Result<Vec<Parameter>> {
    // SAFETY: H2.
    let given = unsafe { argument::elements(name, array, count) }?;
    // SAFETY: H2, for the memory to which the element points.
    given.iter().map(|one| unsafe { parameter(name, one) }).collect()
}

/// Converts a parameter that the caller passes.
///
/// # Errors
/// A pointer is NULL, a text is not UTF-8, or the type is not a number of the header.
///
/// # Safety
/// H2.
pub unsafe fn parameter(argument: &str, given: *const abi::Parameter) -> Result<Parameter> {
    // SAFETY: H2.
    let given = unsafe { shared(argument, given) }?;
    // SAFETY: H2.
    let name = unsafe { text(&format!("{argument}->name"), given.name) }?;
    // SAFETY: H2.
    Ok(Parameter { name: name.to_owned(), value: unsafe { value(name, given) }? })
}

/// # Safety
/// H2: the fields of the value's type are valid.
unsafe fn value(name: &str, given: &abi::Parameter) -> Result<ParameterValue> {
    let array = format!("elements of the parameter {name}");
    let (elements, count) = (given.elements, given.count);
    Ok(match given.value_type {
        PARAMETER_NOT_SET => ParameterValue::NotSet,
        abi::PARAMETER_BOOL => ParameterValue::Bool(given.bool_value != 0),
        abi::PARAMETER_INTEGER => ParameterValue::Integer(given.integer_value),
        abi::PARAMETER_DOUBLE => ParameterValue::Double(given.double_value),
        // SAFETY: H2.
        abi::PARAMETER_STRING => unsafe { text("string_value", given.string_value) }?.into(),
        abi::PARAMETER_BYTE_ARRAY => {
            // SAFETY: H2.
            unsafe { argument::elements::<u8>(&array, elements.cast(), count) }?.to_vec().into()
        }
        abi::PARAMETER_BOOL_ARRAY => {
            // SAFETY: H2; the elements are read as numbers, because C may write any of them.
            let numbers = unsafe { argument::elements::<u8>(&array, elements.cast(), count) }?;
            ParameterValue::BoolArray(numbers.iter().map(|&number| number != 0).collect())
        }
        abi::PARAMETER_INTEGER_ARRAY => {
            // SAFETY: H2.
            unsafe { argument::elements::<i64>(&array, elements.cast(), count) }?.to_vec().into()
        }
        abi::PARAMETER_DOUBLE_ARRAY => {
            // SAFETY: H2.
            unsafe { argument::elements::<f64>(&array, elements.cast(), count) }?.to_vec().into()
        }
        // SAFETY: H2.
        abi::PARAMETER_STRING_ARRAY => unsafe { texts(&array, elements.cast(), count) }?.into(),
        other => {
            return Err(Failure::invalid(format_args!(
                "the type of the parameter {name} is {other}; it is one of GANTRY_PARAMETER_NOT_SET (0) to \
                 GANTRY_PARAMETER_STRING_ARRAY (9)"
            )));
        }
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_parameters_count(list: *const Parameters) -> usize {
    // SAFETY: H1.
    run_for(0, || Ok(unsafe { shared("list", list) }?.structs.len()))
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_parameters_get(list: *const Parameters, index: usize) -> *const abi::Parameter {
    run_for(null(), || {
        // SAFETY: H1.
        let list = unsafe { shared("list", list) }?;
        Ok(list.structs.get(index).map_or(null(), from_ref))
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_parameters_destroy(list: *mut Parameters) {
    // SAFETY: H1.
    unsafe { argument::destroy(list) }
}
