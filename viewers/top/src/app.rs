//! The state of the live table: the view, the selected row, the sort order and the filter; and the keys that change
//! this state.

use crate::{
    sample::{Sample, Topic, is_hidden},
    table::{
        columns::{Column, Order},
        nodes, topics,
    },
};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;
use std::cmp::Ordering;

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The program draws the table again.
    Draw,
    /// The program ends.
    End,
}

/// The view: the table or the topic that the screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// All topics.
    Topics,
    /// All nodes.
    Nodes,
    /// One topic, given by its name.
    Topic(String),
}

/// The identity of a row: a name and, in the table of nodes, the process, because nodes of several processes may have
/// the same name.
type Row = (String, String);

/// The state of the live table.
#[derive(Debug)]
pub struct App {
    sample: Sample,
    view: View,
    of_topics: Order,
    of_nodes: Order,
    filter: String,
    /// Whether the user is typing the filter.
    is_filtering: bool,
    with_hidden: bool,
    is_paused: bool,
    has_help: bool,
    /// The selected row. It stays selected when the sort order changes.
    selected: Option<Row>,
    /// The error of the last attempt to take a sample; `None` if it succeeded.
    failure: Option<String>,
    /// The scroll position of the table; drawing updates it.
    pub scroll: TableState,
}

impl App {
    /// Makes the initial state: the view of all topics. `filter` is the text that names of topics and nodes must
    /// contain.
    #[must_use]
    pub fn new(filter: String, with_hidden: bool) -> App {
        App {
            sample: Sample::default(),
            view: View::Topics,
            of_topics: Order::default(),
            of_nodes: Order::default(),
            filter,
            is_filtering: false,
            with_hidden,
            is_paused: false,
            has_help: false,
            selected: None,
            failure: None,
            scroll: TableState::default(),
        }
    }

    /// Replaces the sample, unless the user has paused the table.
    pub fn update(&mut self, sample: Sample) {
        self.failure = None;
        if !self.is_paused {
            self.sample = sample;
        }
    }

    /// Records that no new sample could be taken. The old sample stays on the screen.
    pub fn fail(&mut self, sentence: String) {
        self.failure = Some(sentence);
    }

    /// The error of the last attempt to take a sample; `None` if it succeeded.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Returns the sample with only the rows that pass the filter, sorted as the user chose.
    #[must_use]
    pub fn shown(&self) -> Sample {
        let mut sample = self.sample.clone();
        sample.topics.retain(|topic| self.is_shown(&topic.name, topic.is_hidden()));
        sample.nodes.retain(|node| self.is_shown(&node.name, is_hidden(&node.name)));
        sort(&mut sample.topics, topics::COLUMNS, self.of_topics);
        sort(&mut sample.nodes, nodes::COLUMNS, self.of_nodes);
        sample
    }

    fn is_shown(&self, name: &str, is_hidden: bool) -> bool {
        (self.with_hidden || !is_hidden) && name.contains(&self.filter)
    }

    /// The view that the screen shows.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The topic that the view [`View::Topic`] shows; `None` in other views, or if the topic no longer exists.
    #[must_use]
    pub fn topic(&self) -> Option<&Topic> {
        let View::Topic(name) = &self.view else { return None };
        self.sample.topics.iter().find(|topic| topic.name == *name)
    }

    /// The sort order of the table that the screen shows.
    #[must_use]
    pub fn order(&self) -> Order {
        if self.view == View::Nodes { self.of_nodes } else { self.of_topics }
    }

    /// The filter text, and whether the user is still typing it.
    #[must_use]
    pub fn filter(&self) -> (&str, bool) {
        (&self.filter, self.is_filtering)
    }

    /// Whether the table is paused: new samples are ignored.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether the screen shows the help on keys.
    #[must_use]
    pub fn has_help(&self) -> bool {
        self.has_help
    }

    /// The index of the selected row in this sample; `None` if no row is selected or the row no longer exists.
    #[must_use]
    pub fn selected(&self, sample: &Sample) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.rows(sample).iter().position(|row| row == selected)
    }

    /// The identities of the rows in the table that the screen shows.
    fn rows(&self, sample: &Sample) -> Vec<Row> {
        match self.view {
            View::Topics => sample.topics.iter().map(|topic| (topic.name.clone(), String::new())).collect(),
            View::Nodes => sample.nodes.iter().map(|node| (node.name.clone(), node.process.clone())).collect(),
            View::Topic(_) => Vec::new(),
        }
    }

    /// Carries out the command of a key.
    pub fn press(&mut self, key: KeyEvent) -> Step {
        if key.kind == KeyEventKind::Release {
            return Step::Draw;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Step::End;
        }
        if self.is_filtering {
            self.type_filter(key.code);
            return Step::Draw;
        }
        match key.code {
            KeyCode::Char('q') => return Step::End,
            KeyCode::Char('?') => self.has_help = !self.has_help,
            _ if self.has_help => self.has_help = false,
            KeyCode::Up | KeyCode::Char('k') => self.select(-1),
            KeyCode::Down | KeyCode::Char('j') => self.select(1),
            KeyCode::PageUp => self.select(-10),
            KeyCode::PageDown => self.select(10),
            KeyCode::Home => self.select(isize::MIN),
            KeyCode::End => self.select(isize::MAX),
            KeyCode::Left => self.sort_by(-1),
            KeyCode::Right => self.sort_by(1),
            KeyCode::Char('r') => {
                let order = self.order_mut();
                order.is_reversed = !order.is_reversed;
            }
            KeyCode::Enter => self.open(),
            KeyCode::Esc | KeyCode::Backspace => self.go_back(),
            KeyCode::Char('n') => self.turn_to(if self.view == View::Nodes { View::Topics } else { View::Nodes }),
            KeyCode::Char('t') => self.turn_to(View::Topics),
            KeyCode::Char('h') => self.with_hidden = !self.with_hidden,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('/') => self.is_filtering = true,
            _ => {}
        }
        Step::Draw
    }

    fn type_filter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_filtering = false,
            KeyCode::Esc => {
                self.is_filtering = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(char) => self.filter.push(char),
            _ => {}
        }
    }

    fn turn_to(&mut self, view: View) {
        if self.view != view {
            (self.view, self.selected, self.scroll) = (view, None, TableState::default());
        }
    }

    fn open(&mut self) {
        if let (View::Topics, Some((name, _))) = (&self.view, &self.selected) {
            self.view = View::Topic(name.clone());
        }
    }

    fn go_back(&mut self) {
        match &self.view {
            // The selected row stays selected in the table of topics.
            View::Topic(_) => self.view = View::Topics,
            _ => self.filter.clear(),
        }
    }

    fn order_mut(&mut self) -> &mut Order {
        if self.view == View::Nodes { &mut self.of_nodes } else { &mut self.of_topics }
    }

    fn sort_by(&mut self, step: isize) {
        let columns = if self.view == View::Nodes { nodes::COLUMNS.len() } else { topics::COLUMNS.len() };
        let order = self.order_mut();
        *order = Order { column: order.column.saturating_add_signed(step).min(columns - 1), is_reversed: false };
    }

    fn select(&mut self, step: isize) {
        let sample = self.shown();
        let rows = self.rows(&sample);
        let Some(last) = rows.len().checked_sub(1) else { return };
        let index = match self.selected(&sample) {
            Some(index) => index.saturating_add_signed(step),
            // Without a selected row, the first step down selects the first row.
            None => usize::try_from(step).unwrap_or(0).saturating_sub(1),
        };
        self.selected = rows.into_iter().nth(index.min(last));
    }
}

/// Sorts by a column. Rows with equal values stay in the order of their names.
fn sort<Row>(rows: &mut [Row], columns: &[Column<Row>], order: Order) {
    let column = &columns[order.column.min(columns.len() - 1)];
    let turn = |ordering: Ordering| if order.is_reversed { ordering.reverse() } else { ordering };
    rows.sort_by(|one, other| turn((column.order)(one, other)));
}
