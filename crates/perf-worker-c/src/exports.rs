//! The C functions that back ends call. `include/perf_test_backend.h` documents them.

use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::PoisonError;

use perf_worker::backend::{self as contract, DaemonCommand, Readiness};
use perf_worker::{clock::now_ns, worker};

use crate::{
    abi,
    backend::CBackend,
    opaque::{Daemons, Draft, Effective, Responder, Sentences, Sink, Timer},
    taken::{MOST_BYTES, taken_from_c},
    text,
};

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn perf_test_now_ns() -> i64 {
    now_ns()
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_draft_write(draft: *mut Draft<'_>, payload: *mut c_void, bytes: usize) {
    // SAFETY: promise H4 of the header; the draft is valid during `publish`, on the thread that calls it.
    let Some(draft) = (unsafe { draft.as_mut() }) else { return };
    if bytes == 0 {
        return;
    }
    if payload.is_null() {
        draft.fault = Some("the back end passed NULL as a payload to perf_test_draft_write");
        return;
    }
    if bytes > MOST_BYTES {
        draft.fault = Some(
            "the back end passed a length to perf_test_draft_write that is too large: check that the length is not \
             negative",
        );
        return;
    }
    // SAFETY: promise H2 of the header: the payload in the back end's message has this length. Its bytes may be
    // uninitialised, but the code below only writes them.
    let payload = unsafe { std::slice::from_raw_parts_mut(payload.cast::<u8>(), bytes) };
    draft.inner.write(payload);
}

/// See the header.
///
/// # Safety
/// H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_draft_stamp(draft: *mut Draft<'_>) -> abi::Stamp {
    // SAFETY: promise H4 of the header; the draft is valid during `publish`, on the thread that calls it.
    let Some(draft) = (unsafe { draft.as_mut() }) else { return abi::Stamp::default() };
    let contract::Stamp { time_ns, id, rate_hz } = draft.inner.stamp();
    abi::Stamp { time_ns, id, rate_hz }
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_sink_taken(sink: *const Sink, taken: *const abi::Taken) {
    // SAFETY: H4.
    let Some(sink) = (unsafe { sink.as_ref() }) else { return };
    // SAFETY: H2.
    let taken = unsafe { taken.as_ref() }.ok_or_else(|| "the back end delivered NULL and no message".to_owned());
    // SAFETY: promise H2 of the header: the payload stays valid during this call.
    match taken.and_then(|taken| unsafe { taken_from_c(taken) }) {
        Ok(taken) => sink.0.taken(&taken),
        Err(sentence) => sink.0.failed(sentence),
    }
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_sink_failed(sink: *const Sink, sentence: *const c_char) {
    // SAFETY: H4.
    let Some(sink) = (unsafe { sink.as_ref() }) else { return };
    // SAFETY: H2.
    let sentence = unsafe { text::required(sentence, "the sentence of a delivery that failed") };
    sink.0.failed(sentence.unwrap_or_else(|fault| fault));
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_responder_request(responder: *const Responder, request: *const abi::Taken) {
    // SAFETY: H4.
    let Some(Responder { requests, responses }) = (unsafe { responder.as_ref() }) else { return };
    // SAFETY: H2.
    let taken = unsafe { request.as_ref() }.ok_or_else(|| "the back end delivered NULL and no request".to_owned());
    // SAFETY: promise H2 of the header: the payload stays valid during this call.
    match taken.and_then(|taken| unsafe { taken_from_c(taken) }) {
        Ok(taken) => requests
            .request(&taken, &mut |draft| responses.lock().unwrap_or_else(PoisonError::into_inner).publish(draft)),
        Err(sentence) => requests.failed(sentence),
    }
}

/// See the header.
///
/// # Safety
/// H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_timer_run(timer: *const Timer) -> i64 {
    // SAFETY: H4.
    let Some(timer) = (unsafe { timer.as_ref() }) else { return i64::MAX };
    timer.run()
}

/// See the header.
///
/// # Safety
/// H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_timer_expired(timer: *const Timer, passed_over: u64) {
    // SAFETY: H4.
    let Some(timer) = (unsafe { timer.as_ref() }) else { return };
    timer.expire(passed_over);
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_daemons_add(daemons: *mut Daemons, daemon: *const abi::Daemon) {
    // SAFETY: promise H4 of the header; the list is valid during `check`, on the thread that calls it.
    let Some(Daemons(daemons)) = (unsafe { daemons.as_mut() }) else { return };
    // SAFETY: H2.
    let added = unsafe { daemon_from_c(daemon) };
    match (&mut *daemons, added) {
        (Ok(list), Ok(daemon)) => list.push(daemon),
        (Ok(_), Err(sentence)) => *daemons = Err(sentence),
        (Err(_), _) => {}
    }
}

/// # Safety
/// H2.
unsafe fn daemon_from_c(daemon: *const abi::Daemon) -> Result<DaemonCommand, String> {
    // SAFETY: H2.
    let daemon = unsafe { daemon.as_ref() }.ok_or_else(|| "a daemon of the back end is NULL".to_owned())?;
    // SAFETY: H2.
    let name = unsafe { text::required(daemon.name, "the name of a daemon") }?;
    // SAFETY: H2.
    let command = unsafe { text::all_from_c(daemon.command) };
    if command.is_empty() {
        return Err(format!("the daemon {name} has no command"));
    }
    // SAFETY: H2.
    let file = unsafe { text::from_c(daemon.ready_file) };
    // SAFETY: H2.
    let line = unsafe { text::from_c(daemon.ready_line) };
    let ready = match (file, line) {
        (Some(file), None) => Readiness::File(PathBuf::from(file)),
        (None, Some(line)) => Readiness::Line(line),
        _ => return Err(format!("the daemon {name} must have either ready_file or ready_line")),
    };
    Ok(DaemonCommand { name, command, ready })
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_effective_set(effective: *mut Effective, name: *const c_char, value: *const c_char) {
    // SAFETY: promise H4 of the header; the list is valid during `effective`, on the thread that calls it.
    let Some(Effective(effective)) = (unsafe { effective.as_mut() }) else { return };
    // SAFETY: H2.
    let name = unsafe { text::from_c(name) };
    // SAFETY: H2.
    let value = unsafe { text::from_c(value) };
    // A missing value is not added. The run then ends with an error about this setting.
    if let (Some(name), Some(value)) = (name, value) {
        effective.insert(name, value);
    }
}

/// See the header.
///
/// # Safety
/// H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_sentences_add(sentences: *mut Sentences, sentence: *const c_char) {
    // SAFETY: promise H4 of the header; the list is valid during `mismatches`, on the thread that calls it.
    let Some(Sentences(sentences)) = (unsafe { sentences.as_mut() }) else { return };
    // SAFETY: H2.
    sentences.extend(unsafe { text::from_c(sentence) });
}

/// The main function of a program with a back end (see the header). Returns the program's exit code.
///
/// # Safety
/// `argv` must have `argc` strings, or be NULL. `backend` must keep the promises H1, H2 and H3 of the header, or be
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perf_test_worker_main(
    argc: c_int,
    argv: *const *const c_char,
    backend: *const abi::Backend,
) -> c_int {
    // SAFETY: the caller's promise.
    let backend = match unsafe { CBackend::new(backend) } {
        Ok(backend) => backend,
        Err(sentence) => {
            // The result is ignored: writing fails only if standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "the back end is not valid: {sentence}");
            return 1;
        }
    };
    // SAFETY: the caller's promise.
    let arguments = unsafe { arguments(argc, argv) };
    // The back end is never freed: there is only one, and threads use it until the end of the process.
    let backend: &'static CBackend = Box::leak(Box::new(backend));
    c_int::from(worker::exit_code(backend, arguments))
}

/// The arguments after the name of the program.
///
/// # Safety
/// `argv` must have `argc` strings, or be NULL.
unsafe fn arguments(argc: c_int, argv: *const *const c_char) -> Vec<OsString> {
    let count = if argv.is_null() { 0 } else { usize::try_from(argc).unwrap_or(0) };
    let argument = |index| {
        // SAFETY: `index` is below `argc`.
        let pointer = unsafe { argv.add(index) };
        // SAFETY: as before.
        let pointer = unsafe { *pointer };
        // SAFETY: the caller's promise.
        let text = (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) });
        text.map(|text| OsString::from_vec(text.to_bytes().to_vec()))
    };
    (1..count).map_while(argument).collect()
}
