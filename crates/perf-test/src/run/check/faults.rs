//! The faults that the summary of a run shows.

use super::subject::{Measured, Subject};
use crate::{common::warning::WarningKind, log::Summary};
use perf_worker::run_spec::{Roundtrip, RunSpec};

/// The message size in bytes from which loans must not copy, if the middleware declares loans for the message's
/// content. A middleware may copy shorter messages, because that is faster than a loan.
pub const LOANED_BYTES: usize = 4096;

/// The rule for messages that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// No message may be lost if the middleware declares reliable delivery.
    None,
    /// Losses are allowed but must be counted: a subscription sees no more ids than were sent, and if the middleware
    /// counts overwritten messages, this count explains each loss.
    Counted,
}

/// Judges the counts of a run in which no fault is expected.
///
/// # Errors
/// One sentence with all faults of the run.
pub fn judge(subject: &Subject<'_>, (spec, summary): &Measured, losses: Losses) -> Result<String, String> {
    let mut faults = general(spec, summary);
    match losses {
        Losses::None => {
            faults.extend(copied(spec, summary));
            let (lost, overwritten) = (summary.lost, summary.total.received.overwritten);
            if subject.is_reliable() && lost > 0 {
                faults.push(format!(
                    "{lost} messages were lost ({overwritten} counted as overwritten), although the history of this reliable \
                     run holds all"
                ));
            }
        }
        Losses::Counted => faults.extend(uncounted(subject, summary)),
    }
    if !faults.is_empty() {
        return Err(faults.join("; "));
    }
    let (sent, received) = (summary.sent_at_least, summary.total.received.samples);
    let lost = if summary.lost > 0 { format!(", {} lost", summary.lost) } else { String::new() };
    Ok(format!("{sent} sent, {received} received{lost}"))
}

/// The faults that no quality of service permits.
fn general(spec: &RunSpec, summary: &Summary) -> Vec<String> {
    let (sent, received) = (&summary.total.sent, &summary.total.received);
    let mut faults: Vec<String> = summary.exited.iter().map(|kind| format!("all {kind} exited")).collect();
    if spec.publishers > 0 && summary.sent_at_least == 0 {
        faults.push("no message was sent".to_owned());
    } else if summary.subscriptions.iter().any(|figures| figures.received.samples == 0) {
        faults.push("a subscription received no message".to_owned());
    }
    let counts = [
        (received.reordered, "arrived after a later one of their publisher"),
        (received.duplicates, "arrived twice"),
        (received.corrupt, "had another payload than was written"),
        (received.negative, "were received before they were sent"),
        (sent.refused, "were not sent: the publisher refused them"),
        (received.refused, "could not be taken"),
    ];
    faults.extend(counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} messages {what}")));
    let bytes = received.samples * spec.message.bytes as u64;
    if received.bytes != bytes {
        let found = received.bytes;
        faults.push(format!("{found} bytes were received, and the messages have {bytes}"));
    }
    let relayed = summary.total.relayed.samples;
    if spec.roundtrip == Roundtrip::Both && relayed < received.samples {
        let came = received.samples;
        faults.push(format!("{relayed} messages were relayed, and {came} came back"));
    }
    let kinds = [WarningKind::Worker, WarningKind::Endpoint, WarningKind::Mismatch, WarningKind::LeftBehind];
    let warnings = summary.warnings.iter().filter(|warning| kinds.iter().any(|kind| warning.is(*kind)));
    faults.extend(warnings.map(|warning| warning.sentence.clone()));
    faults
}

/// The fault that messages were copied although they are long enough for a loan.
fn copied(spec: &RunSpec, summary: &Summary) -> Option<String> {
    let copies = [summary.total.sent.copied, summary.total.received.copied];
    let [on_publish, on_take] = copies;
    (spec.message.bytes >= LOANED_BYTES && copies != [0, 0]).then(|| {
        format!(
            "messages were copied, {on_publish} on publish and {on_take} on take, although their contents are declared as \
             loaned"
        )
    })
}

/// The faults of the counters: a subscription counts more messages or ids than were sent, or the counter of overwritten
/// messages does not explain the losses.
fn uncounted(subject: &Subject<'_>, summary: &Summary) -> Vec<String> {
    let mut faults = Vec::new();
    let sent = summary.sent_at_least;
    for figures in &summary.subscriptions {
        let (endpoint, received) = (figures.endpoint(), &figures.received);
        // The number of ids up to the last received one. Messages that were lost after the last received one are not
        // included, because they leave no gap.
        let seen = received.samples + received.lost();
        if received.samples > sent || seen > sent {
            let (samples, missed) = (received.samples, received.lost());
            faults
                .push(format!("{endpoint} received {samples} messages and missed {missed} ids, and {sent} were sent"));
        }
    }
    let (lost, overwritten) = (summary.lost, summary.total.received.overwritten);
    if subject.can().overwritten && lost != overwritten {
        faults.push(format!("{lost} messages were lost, and {overwritten} are counted as overwritten"));
    }
    faults
}
