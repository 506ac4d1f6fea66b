//! Scans Newick text into nodes.

use super::labels::{Label, ends_label, number, shown};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

const STRIDE: usize = 4096;

/// A node of the tree in a Newick text. Nodes are stored in the order in which they end in the text, so children come
/// before their parents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) n_children: u32,
    pub(super) length: f64,
    /// The height in a comment such as `[&similarity=2.5]`; NaN if the node has no such comment.
    pub(super) height: f64,
    /// True if the node has a comment with the word `dissimilarity`, false if the word is `similarity`, as in
    /// `[&similarity=2.5]`. `None` if the node has no such comment.
    pub(super) dissimilarity: Option<bool>,
    at: usize,
}

/// The contents of a Newick text. In lists of pairs, the first number of a pair is the index of a node in `nodes`.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) nodes: Vec<Node>,
    pub(super) leaves: Vec<Label>,
    pub(super) labels: Vec<(usize, Label)>,
    pub(super) support: Vec<(usize, String)>,
    pub(super) inner: Vec<(usize, u32)>,
    pub(super) numbers: Vec<(usize, u32)>,
    /// The support in comments that programs such as BEAST write. Used if there is no other support.
    pub(super) foreign_support: Vec<(usize, String)>,
}

pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    keeps_underscores: bool,
    found: Found,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, keeps_underscores: bool) -> Self {
        Self { text, at: 0, keeps_underscores, found: Found::default() }
    }

    fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        Error::Line { line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(), reason: message.into() }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek(&mut self) -> Option<u8> {
        while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.byte()
    }

    pub(super) fn scan(mut self, monitor: &Monitor) -> Result<Found> {
        let mut open: Vec<u32> = Vec::new();
        monitor.start(self.text.len() as u64);
        let mut reported = 0;
        self.comments()?;
        loop {
            // A node begins here.
            match self.peek() {
                None if self.found.nodes.is_empty() && open.is_empty() => return Err(self.error("there is no tree")),
                None => {
                    let message = format!("the text ends inside the tree ({} parentheses are open)", open.len());
                    return Err(self.error(message));
                }
                Some(b'(') => {
                    self.at += 1;
                    self.comments()?;
                    open.push(0);
                    continue;
                }
                _ => {}
            }
            let mut node = self.node(0);
            let label = self.label()?;
            if label.is_missing() {
                return Err(self.error("a leaf without a name"));
            }
            self.found.leaves.push(label);
            self.attributes(&mut node)?;
            self.found.nodes.push(node);
            // This node ends here. The nodes above this node may also end here.
            loop {
                if self.found.nodes.len().is_multiple_of(STRIDE) {
                    monitor.advance((self.at - reported) as u64)?;
                    reported = self.at;
                }
                match (self.peek(), open.last_mut()) {
                    (Some(b','), Some(siblings)) => {
                        *siblings += 1;
                        self.at += 1;
                        self.comments()?;
                        break;
                    }
                    (Some(b')'), Some(_)) => {
                        let siblings = open.pop().expect("a node is open");
                        self.at += 1;
                        let mut node = self.node(siblings + 1);
                        self.comments_of(&mut node)?;
                        let label = self.label()?;
                        if !label.is_missing() {
                            self.found.labels.push((self.found.nodes.len(), label));
                        }
                        self.attributes(&mut node)?;
                        self.found.nodes.push(node);
                    }
                    (found, siblings) => {
                        let inside = siblings.is_some();
                        self.finish(found, inside)?;
                        return Ok(self.found);
                    }
                }
            }
        }
    }

    fn node(&self, n_children: u32) -> Node {
        Node { n_children, length: f64::NAN, height: f64::NAN, dissimilarity: None, at: self.at }
    }

    fn finish(&mut self, found: Option<u8>, inside: bool) -> Result<()> {
        match found {
            None if inside => return Err(self.error("the text ends inside the tree; a `)` is missing")),
            None => return Err(self.error("the tree does not end with `;`")),
            Some(b';') if inside => return Err(self.error("`;` comes before all parentheses are closed")),
            Some(b';') => self.at += 1,
            Some(b')') => return Err(self.error("a `)` without its `(`")),
            Some(_) => {
                let found: String = self.text[self.at..].chars().take(20).collect();
                return Err(self.error(format!("`{}` is not expected here", shown(&found))));
            }
        }
        self.comments()?;
        if self.peek().is_some() {
            return Err(self.error("there is more text after the tree's `;` (one tree is read)"));
        }
        let mut seen = std::collections::HashSet::with_capacity(self.found.leaves.len());
        let leaves = self.found.nodes.iter().filter(|node| node.n_children == 0);
        for (node, label) in leaves.zip(&self.found.leaves) {
            if !seen.insert(label.text.as_str()) {
                return Err(self.error_at(node.at, format!("the leaf name `{}` occurs twice", shown(&label.text))));
            }
        }
        Ok(())
    }

    fn label(&mut self) -> Result<Label> {
        if self.peek() == Some(b'\'') {
            let start = self.at;
            self.at += 1;
            return Ok(Label { text: self.quoted(start)?, is_quoted: true });
        }
        let plain = self.word();
        let text = if self.keeps_underscores { plain.to_string() } else { plain.replace('_', " ") };
        Ok(Label { text, is_quoted: false })
    }

    fn quoted(&mut self, start: usize) -> Result<String> {
        let mut name = String::new();
        loop {
            let Some(length) = self.text[self.at..].find('\'') else {
                return Err(self.error_at(start, "the text ends inside a quoted name that begins here"));
            };
            name.push_str(&self.text[self.at..self.at + length]);
            self.at += length + 1;
            if self.byte() == Some(b'\'') {
                name.push('\'');
                self.at += 1;
            } else if name.ends_with('\\') && !self.may_end_here() {
                // Biopython writes a quote within a name as `\'`.
                name.pop();
                name.push('\'');
            } else {
                return Ok(name);
            }
        }
    }

    fn may_end_here(&self) -> bool {
        let next = self.text.as_bytes()[self.at..].iter().find(|byte| !byte.is_ascii_whitespace());
        next.is_none_or(|byte| b"(),:;[".contains(byte))
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        while self.byte().is_some_and(|byte| !ends_label(byte)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn attributes(&mut self, node: &mut Node) -> Result<()> {
        self.comments_of(node)?;
        if self.peek() == Some(b':') {
            self.at += 1;
            self.comments_of(node)?;
            self.peek();
            let start = self.at;
            let word = self.word();
            let length = number(word);
            node.length =
                length.ok_or_else(|| self.error_at(start, format!("`{}` is no branch length", shown(word))))?;
            self.comments_of(node)?;
        }
        Ok(())
    }

    fn comments(&mut self) -> Result<()> {
        while self.comment()?.is_some() {}
        Ok(())
    }

    fn comments_of(&mut self, node: &mut Node) -> Result<()> {
        let this = self.found.nodes.len();
        while let Some(comment) = self.comment()? {
            // RAxML writes support as a comment after the length: `:0.05[98]`.
            if number(comment.trim()).is_some_and(|share| (0.0..=100.0).contains(&share)) {
                self.found.foreign_support.push((this, comment.trim().to_string()));
            }
            for item in items(comment) {
                let Some((key, value)) = item.split_once('=') else {
                    node.dissimilarity = kind(item.trim()).or(node.dissimilarity);
                    continue;
                };
                let (key, value) = (key.trim(), value.trim());
                match key {
                    "dissimilarity" | "similarity" => {
                        node.dissimilarity = kind(key);
                        node.height = number(value).ok_or_else(|| self.wrong(item, "height"))?;
                    }
                    "support" => {
                        let share = number(value).filter(|share| (0.0..=100.0).contains(share));
                        share.ok_or_else(|| self.wrong(item, "support"))?;
                        self.found.support.push((this, value.to_string()));
                    }
                    // The names of support in BEAST, MrBayes and extended NHX.
                    "posterior" | "prob" | "bootstrap" | "B"
                        if number(value).is_some_and(|share| (0.0..=100.0).contains(&share)) =>
                    {
                        self.found.foreign_support.push((this, value.to_string()));
                    }
                    "node" => {
                        let number = value.parse().map_err(|_| self.wrong(item, "node"))?;
                        self.found.inner.push((this, number));
                    }
                    "leaf" => {
                        let number = value.parse().map_err(|_| self.wrong(item, "leaf"))?;
                        self.found.numbers.push((this, number));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, item: &str, what: &str) -> Error {
        self.error(format!("`{}` is no {what}", shown(item)))
    }

    fn comment(&mut self) -> Result<Option<&'a str>> {
        if self.peek() != Some(b'[') {
            return Ok(None);
        }
        let start = self.at;
        let mut depth = 0usize;
        for (offset, byte) in self.text.as_bytes()[start..].iter().enumerate() {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at = start + offset + 1;
                return Ok(Some(&self.text[start + 1..start + offset]));
            }
        }
        Err(self.error("the text ends inside a comment that begins here"))
    }
}

/// Splits a comment into items such as `support=98`: at colons after `&&NHX:`, and at commas after `&`.
fn items(comment: &str) -> std::str::Split<'_, char> {
    match comment.strip_prefix("&&NHX") {
        Some(list) => list.split(':'),
        None => comment.strip_prefix('&').unwrap_or_default().split(','),
    }
}

fn kind(word: &str) -> Option<bool> {
    match word {
        "dissimilarity" => Some(true),
        "similarity" => Some(false),
        _ => None,
    }
}
