//! Silence of a client: limits the data that a silent client still gets, and decides whether its session may move to
//! another host.

use gantry_xrce::time::Instant;

/// The largest number of best-effort messages that are sent without a sign of life from the client. This limit protects
/// other hosts: if the source address of a datagram is forged, the host at that address gets data that it never
/// requested.
const MAX_MESSAGES: u32 = 128;
/// The largest number of bytes of best-effort data that are sent without a sign of life from the client.
const MAX_BYTES: u64 = 128 << 10;
/// The longest time for which best-effort data is sent without a sign of life from the client.
const MAX_SILENCE_US: u32 = 2_000_000;
/// The shortest time between two questions for a sign of life.
const QUESTION_PERIOD_US: u32 = 500_000;
/// The time that a client has for the answer to each question when another host uses the client's key.
const CHALLENGE_US: u32 = 500_000;
/// The number of such questions. After a single one, an agent that stood still for that time would take the session
/// from a client whose answer waits unread.
const CHALLENGES: u8 = 2;

/// The time of the client's last sign of life, and the best-effort messages sent since then.
#[derive(Debug)]
pub struct Silence {
    heard_at: Instant,
    messages: u32,
    bytes: u64,
    /// The time at which the agent last asked the client for a sign of life.
    asked_at: Option<Instant>,
    /// The last question that was asked because another host uses the client's key.
    challenge: Option<Challenge>,
}

#[derive(Clone, Copy, Debug)]
struct Challenge {
    asked_at: Instant,
    /// The number of consecutive questions without an answer, including this one.
    questions: u8,
}

impl Silence {
    pub fn new(now: Instant) -> Self {
        Self { heard_at: now, messages: 0, bytes: 0, asked_at: None, challenge: None }
    }

    /// Notes that a message of the client has arrived.
    pub fn heard(&mut self, now: Instant) {
        *self = Self { challenge: self.challenge, ..Self::new(now) };
    }

    /// Counts a best-effort message of `bytes` bytes.
    pub fn sent(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }

    /// Whether best-effort messages have to wait for a sign of life from the client.
    pub fn stops_best_effort(&self, now: Instant) -> bool {
        let is_long = self.messages > 0 && now >= self.heard_at.after_us(MAX_SILENCE_US);
        self.messages >= MAX_MESSAGES || self.bytes >= MAX_BYTES || is_long
    }

    /// Whether the agent should ask the client for a sign of life now. The question comes early, so that best-effort
    /// messages do not have to wait.
    pub fn asks(&mut self, now: Instant) -> bool {
        let is_wanted = self.messages >= MAX_MESSAGES / 2
            || self.bytes >= MAX_BYTES / 2
            || self.messages > 0 && now >= self.heard_at.after_us(MAX_SILENCE_US / 2);
        let asks = is_wanted && self.asked_at.is_none_or(|at| now >= at.after_us(QUESTION_PERIOD_US));
        if asks {
            self.asked_at = Some(now);
        }
        asks
    }

    /// The time of the next question for a sign of life.
    pub fn deadline(&self) -> Option<Instant> {
        let first = (self.messages > 0).then(|| self.heard_at.after_us(MAX_SILENCE_US / 2));
        self.asked_at.map(|at| at.after_us(QUESTION_PERIOD_US)).or(first)
    }

    /// Handles the case that another host uses the client's key. Returns whether the client has left the questions
    /// unanswered, and whether the agent should ask the client now.
    pub fn is_challenged(&mut self, now: Instant) -> (bool, bool) {
        let questions = match self.challenge {
            Some(last) if now < last.asked_at.after_us(CHALLENGE_US) => return (false, false),
            Some(last) if self.heard_at < last.asked_at => last.questions,
            _ => 0,
        };
        let yields = questions == CHALLENGES;
        if !yields {
            self.challenge = Some(Challenge { asked_at: now, questions: questions + 1 });
        }
        (yields, !yields)
    }
}
