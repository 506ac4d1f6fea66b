//! Newick text: trees as nested parentheses.

use std::fmt::Write;

use super::dendrogram::Dendrogram;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::sorting::sort_by;

/// Nodes between two looks at the monitor.
const BLOCK: usize = 1 << 14;

/// What [`Dendrogram::to_newick`] writes besides the topology.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    branch_lengths: bool,
    heights: bool,
}

impl Dendrogram {
    /// The tree as Newick text.
    ///
    /// Leaves are written by name (quoted where needed), or by number without `names`. Branch
    /// lengths are differences of merge heights; leaves stand at 0 with dissimilarities, at the
    /// height of the closest merge with similarities; under an inversion a length is negative.
    /// `heights` adds the exact merge heights as comments, `[&similarity=2.5]` or
    /// `[&dissimilarity=2.5]`, from which [`Dendrogram::from_newick`] restores the tree unchanged.
    ///
    /// # Errors
    /// Another number of names than leaves.
    ///
    /// ```
    /// let tree = ordhc::Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], true)?;
    /// let names = ["a", "b c", "d"];
    /// assert_eq!(tree.to_newick(Some(&names), true, false)?, "(d:2,(a:0.5,'b c':0.5):1.5);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn to_newick<S: AsRef<str>>(&self, names: Option<&[S]>, branch_lengths: bool, heights: bool) -> Result<String> {
        if let Some(names) = names
            && names.len() != self.n_leaves()
        {
            return Err(Error::Shape(format!("{} names for {} leaves", names.len(), self.n_leaves())));
        }
        let name = |leaf: usize| names.map_or_else(|| leaf.to_string(), |names| quoted(names[leaf].as_ref()));
        self.write(name, None, None, Style { branch_lengths, heights }, &Monitor::new())
    }

    /// [`to_newick`](Self::to_newick) with a label (of support, say) for each merge, and with leaves at
    /// heights of their own. A merge without a label is written as part of the node above it.
    ///
    /// # Errors
    /// Another number of names or heights than leaves, or of labels than merges; not enough memory;
    /// [`Error::Interrupted`].
    ///
    /// ```
    /// use ordhc::Monitor;
    ///
    /// let tree = ordhc::Dendrogram::new(vec![[0, 1], [2, 4], [3, 5]], vec![1.0, 2.0, 2.0], true)?;
    /// let labels = [Some("90"), None, Some("100")];
    /// let names = Some(&["a", "b", "c", "d"][..]);
    /// assert_eq!(tree.to_newick_with(names, Some(&labels), None, (true, false), &Monitor::new())?, "(d:2,c:2,(a:1,b:1)90:1)100;");
    /// let none: Option<&[Option<&str>]> = None;
    /// let text = tree.to_newick_with(names, none, Some(&[0.5, 0.0, 0.0, 1.0]), (true, false), &Monitor::new())?;
    /// assert_eq!(text, "(d:1,(c:2,(a:0.5,b:1):1):0);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn to_newick_with<S: AsRef<str>, L: AsRef<str>>(
        &self,
        names: Option<&[S]>,
        labels: Option<&[Option<L>]>,
        leaf_heights: Option<&[f64]>,
        (branch_lengths, heights): (bool, bool),
        monitor: &Monitor,
    ) -> Result<String> {
        let (n, merges) = (self.n_leaves(), self.merges().len());
        for (what, found, expected) in [
            ("names", names.map(<[S]>::len), n),
            ("leaf heights", leaf_heights.map(<[f64]>::len), n),
            ("labels of merges", labels.map(<[Option<L>]>::len), merges),
        ] {
            if found.is_some_and(|found| found != expected) {
                return Err(Error::Shape(format!("{} {what} for {n} leaves", found.unwrap_or(0))));
            }
        }
        let name = |leaf: usize| names.map_or_else(|| leaf.to_string(), |names| quoted(names[leaf].as_ref()));
        let quoted_labels = |labels: &[Option<L>]| -> Vec<Option<String>> {
            labels.iter().map(|label| label.as_ref().map(|label| quoted_label(label.as_ref()))).collect()
        };
        let labels = labels.map(quoted_labels);
        self.write(name, labels.as_deref(), leaf_heights, Style { branch_lengths, heights }, monitor)
    }

    /// The topology alone, leaves as numbers.
    pub fn to_newick_topology(&self) -> String {
        let written = self.write(|leaf| leaf.to_string(), None, None, Style::default(), &Monitor::new());
        written.expect("nobody interrupts this")
    }

    fn write(
        &self,
        name: impl Fn(usize) -> String,
        labels: Option<&[Option<String>]>,
        leaf_heights: Option<&[f64]>,
        style: Style,
        monitor: &Monitor,
    ) -> Result<String> {
        enum Step {
            Open(u32, Option<f64>),
            Comma,
            Close(u32, Option<f64>),
        }
        let n = self.n_leaves();
        let leaf_height = if self.is_dissimilarity() {
            0.0
        } else {
            self.heights().iter().copied().fold(f64::NEG_INFINITY, f64::max)
        };
        let height = |cluster: u32| {
            let own = || leaf_heights.map_or(leaf_height, |heights| heights[cluster as usize]);
            (cluster as usize).checked_sub(n).map_or_else(own, |merge| self.heights()[merge])
        };
        let sign = if self.is_dissimilarity() { 1.0 } else { -1.0 };
        let mut text = String::new();
        let mut steps = vec![Step::Open((2 * n - 2) as u32, None)];
        let mut done = 0;
        while let Some(step) = steps.pop() {
            done += 1;
            if done % BLOCK == 0 {
                monitor.check()?;
                // Names, numbers and comments of a block are far shorter than this.
                const ROOM: usize = BLOCK << 6;
                if text.capacity() - text.len() < ROOM {
                    let bytes = (2 * text.len() + ROOM) as u64;
                    memory::check("the Newick text", bytes)?;
                    let more = text.try_reserve(text.len().max(ROOM));
                    more.map_err(|_| Error::OutOfMemory { what: "the Newick text", bytes })?;
                }
            }
            let (cluster, length) = match step {
                Step::Comma => {
                    text.push(',');
                    continue;
                }
                Step::Open(cluster, length) => {
                    let Some(merge) = (cluster as usize).checked_sub(n) else {
                        text.push_str(&name(cluster as usize));
                        write_length(&mut text, length);
                        continue;
                    };
                    let is_part = cluster as usize != 2 * n - 2 && labels.is_some_and(|labels| labels[merge].is_none());
                    if !is_part {
                        text.push('(');
                        steps.push(Step::Close(cluster, length));
                    }
                    let [a, b] = self.merges()[merge];
                    let branch = |part| style.branch_lengths.then(|| sign * (height(cluster) - height(part)) + 0.0);
                    steps.push(Step::Open(b, branch(b)));
                    steps.push(Step::Comma);
                    steps.push(Step::Open(a, branch(a)));
                    continue;
                }
                Step::Close(cluster, length) => (cluster, length),
            };
            text.push(')');
            if let Some(Some(label)) = labels.map(|labels| &labels[cluster as usize - n]) {
                text.push_str(label);
            }
            if style.heights {
                let kind = if self.is_dissimilarity() { "dissimilarity" } else { "similarity" };
                let _ = write!(text, "[&{kind}={}]", height(cluster));
            }
            write_length(&mut text, length);
        }
        text.push(';');
        Ok(text)
    }

    /// Reads Newick text: the tree, and the leaves' names in the order in which they stand.
    ///
    /// Heights come from comments as [`Dendrogram::to_newick`] writes them; else from branch
    /// lengths (a node's height is the longest way down to a leaf); else a node is one higher than
    /// its highest child. A node with one child is passed over; one with more than two becomes
    /// merges of equal height, in the order written. Leaves without a name, names that occur
    /// twice and text after the tree are errors.
    ///
    /// # Errors
    /// What cannot be read, with its line.
    ///
    /// ```
    /// let (tree, names) = ordhc::Dendrogram::from_newick("((a:1,b:1):2,c:3);")?;
    /// assert_eq!(names, ["a", "b", "c"]);
    /// assert_eq!(tree.heights(), [1.0, 3.0]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn from_newick(text: &str) -> Result<(Self, Vec<String>)> {
        Self::read_newick(text, &Monitor::new())
    }

    /// The same as [`from_newick`](Self::from_newick), watched.
    ///
    /// # Errors
    /// As there; not enough memory; [`Error::Interrupted`].
    pub fn read_newick(text: &str, monitor: &Monitor) -> Result<(Self, Vec<String>)> {
        // Nodes and names, in room that doubles, and what is known of each while they are put together.
        const EACH: usize = 2 * size_of::<Node>() + 2 * size_of::<String>() + 128;
        let most = 1 + text.bytes().filter(|byte| matches!(byte, b',' | b'(')).count();
        memory::check("the nodes of the tree", (most * EACH + text.len()) as u64)?;
        let (nodes, names) = Reader { text: text.as_bytes(), at: 0, monitor }.tree(text)?;
        Ok((assemble(&nodes, names.len(), monitor)?, names))
    }
}

fn write_length(text: &mut String, length: Option<f64>) {
    if let Some(length) = length {
        let _ = write!(text, ":{length}");
    }
}

fn quoted_label(label: &str) -> String {
    if label.is_empty() { String::new() } else { quoted(label) }
}

fn quoted(name: &str) -> String {
    let special = |c: char| c.is_whitespace() || c.is_control() || "()[]{}:;,'\"".contains(c);
    if name.is_empty() || name.contains(special) { format!("'{}'", name.replace('\'', "''")) } else { name.to_string() }
}

/// A node as read, children before parents.
#[derive(Debug)]
struct Node {
    children: Vec<usize>,
    leaf: Option<usize>,
    length: Option<f64>,
    /// The height and whether it is a dissimilarity.
    height: Option<(f64, bool)>,
    /// Where in the text it begins.
    at: usize,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    monitor: &'a Monitor,
}

impl Reader<'_> {
    fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> Error {
        let before = &self.text[..at.min(self.text.len())];
        Error::Text { line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(), message: message.into() }
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn tree(mut self, text: &str) -> Result<(Vec<Node>, Vec<String>)> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut open: Vec<Vec<usize>> = Vec::new();
        self.comments()?;
        loop {
            // A node begins here.
            match self.peek() {
                None if nodes.is_empty() && open.is_empty() => return Err(self.error("there is no tree")),
                None => {
                    return Err(
                        self.error(format!("the text ends inside the tree ({} parentheses are open)", open.len()))
                    );
                }
                Some(b'(') => {
                    self.at += 1;
                    self.comments()?;
                    open.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            let at = self.at;
            let name = self.name(text)?;
            if name.is_empty() {
                return Err(self.error("a leaf without a name"));
            }
            if names.len() % BLOCK == 0 {
                self.monitor.check()?;
            }
            let mut node = Node { children: Vec::new(), leaf: Some(names.len()), length: None, height: None, at };
            names.push(name);
            self.attributes(&mut node)?;
            nodes.push(node);
            // It ends; so may the ones around it.
            loop {
                let this = nodes.len() - 1;
                match (self.peek(), open.last_mut()) {
                    (Some(b','), Some(siblings)) => {
                        siblings.push(this);
                        self.at += 1;
                        self.comments()?;
                        break;
                    }
                    (Some(b')'), Some(_)) => {
                        let mut children = open.pop().unwrap_or_default();
                        children.push(this);
                        self.at += 1;
                        let mut node = Node { children, leaf: None, length: None, height: None, at: self.at };
                        self.comment_of(&mut node)?;
                        self.name(text)?;
                        self.attributes(&mut node)?;
                        nodes.push(node);
                    }
                    (found, open_here) => {
                        let inside = open_here.is_some();
                        return self.finish(found, inside, nodes, names);
                    }
                }
            }
        }
    }

    fn finish(
        &mut self,
        found: Option<u8>,
        inside: bool,
        nodes: Vec<Node>,
        names: Vec<String>,
    ) -> Result<(Vec<Node>, Vec<String>)> {
        match found {
            None if inside => return Err(self.error("the text ends inside the tree; a `)` is missing")),
            None => return Err(self.error("the tree does not end with `;`")),
            Some(b';') if inside => return Err(self.error("`;` comes before all parentheses are closed")),
            Some(b';') => self.at += 1,
            Some(b')') => return Err(self.error("a `)` without its `(`")),
            Some(_) => {
                let rest = String::from_utf8_lossy(&self.text[self.at..]);
                let found: String = rest.chars().take(20).collect();
                return Err(self.error(format!("`{found}` is not expected here")));
            }
        }
        self.comments()?;
        if self.peek().is_some() {
            return Err(self.error("there is more text after the tree's `;` (one tree is read)"));
        }
        let mut seen = std::collections::HashSet::new();
        for node in &nodes {
            if let Some(leaf) = node.leaf
                && !seen.insert(&names[leaf])
            {
                return Err(self.error_at(node.at, format!("the leaf name `{}` occurs twice", names[leaf])));
            }
        }
        Ok((nodes, names))
    }

    /// A name, quoted or plain; empty if there is none.
    fn name(&mut self, text: &str) -> Result<String> {
        if self.peek() == Some(b'\'') {
            let mut name = Vec::new();
            self.at += 1;
            loop {
                match (self.text.get(self.at), self.text.get(self.at + 1)) {
                    (Some(b'\''), Some(b'\'')) => {
                        name.push(b'\'');
                        self.at += 2;
                    }
                    (Some(b'\''), _) => {
                        self.at += 1;
                        return String::from_utf8(name).map_err(|_| self.error("a name is not UTF-8"));
                    }
                    (Some(&byte), _) => {
                        name.push(byte);
                        self.at += 1;
                    }
                    (None, _) => return Err(self.error("the text ends inside a quoted name")),
                }
            }
        }
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| !b"()[]:;,'".contains(byte) && !byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        Ok(text[start..self.at].to_string())
    }

    /// Comments and the branch length after a name.
    fn attributes(&mut self, node: &mut Node) -> Result<()> {
        self.comment_of(node)?;
        if self.peek() == Some(b':') {
            self.at += 1;
            self.comment_of(node)?;
            self.peek();
            let start = self.at;
            while self.text.get(self.at).is_some_and(|byte| !b"()[]:;,'".contains(byte) && !byte.is_ascii_whitespace())
            {
                self.at += 1;
            }
            let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
            let length = text.parse::<f64>().ok().filter(|length| length.is_finite());
            node.length = Some(length.ok_or_else(|| self.error(format!("`{text}` is no branch length")))?);
            self.comment_of(node)?;
        }
        Ok(())
    }

    fn comments(&mut self) -> Result<()> {
        while self.comment()?.is_some() {}
        Ok(())
    }

    fn comment_of(&mut self, node: &mut Node) -> Result<()> {
        while let Some(comment) = self.comment()? {
            for item in comment.strip_prefix('&').unwrap_or_default().split(',') {
                let Some((key, value)) = item.split_once('=') else { continue };
                let dissimilarity = match key.trim() {
                    "dissimilarity" => true,
                    "similarity" => false,
                    _ => continue,
                };
                let height = value.trim().parse::<f64>().ok().filter(|height| height.is_finite());
                let height = height.ok_or_else(|| self.error(format!("`{item}` is no height")))?;
                node.height = Some((height, dissimilarity));
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<Option<String>> {
        if self.peek() != Some(b'[') {
            return Ok(None);
        }
        let start = self.at + 1;
        match self.text[start..].iter().position(|&byte| byte == b']') {
            None => Err(self.error("the text ends inside a comment")),
            Some(length) => {
                self.at = start + length + 1;
                Ok(Some(String::from_utf8_lossy(&self.text[start..start + length]).into_owned()))
            }
        }
    }
}

/// Binary merges in order of height from nodes of any degree.
fn assemble(nodes: &[Node], n: usize, monitor: &Monitor) -> Result<Dendrogram> {
    monitor.check()?;
    let inner = || nodes.iter().filter(|node| node.children.len() > 1);
    let annotated = inner().all(|node| node.height.is_some());
    let kinds: Vec<bool> = inner().filter_map(|node| node.height.map(|(_, dissimilarity)| dissimilarity)).collect();
    if annotated && kinds.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Error::Text {
            line: 1,
            message: "the heights are similarities here and dissimilarities there".into(),
        });
    }
    let dissimilarity = !(annotated && kinds.first() == Some(&false));
    let lengths = nodes.iter().any(|node| node.length.is_some());
    let mut heights = vec![0.0f64; nodes.len()];
    let mut highest = vec![f64::NEG_INFINITY; nodes.len()];
    // By node: its height; and for an order that never puts a whole before its parts, its rank.
    for (at, node) in nodes.iter().enumerate() {
        if at % BLOCK == 0 {
            monitor.check()?;
        }
        if node.leaf.is_some() {
            continue;
        }
        let below = node.children.iter().map(|&child| {
            let step = if lengths { nodes[child].length.unwrap_or(0.0) } else { f64::from(node.children.len() > 1) };
            heights[child] + step
        });
        heights[at] = below.fold(f64::NEG_INFINITY, f64::max);
        if annotated && let Some((height, _)) = node.height {
            heights[at] = height;
        }
        let own = if dissimilarity { heights[at] } else { -heights[at] };
        highest[at] = node.children.iter().map(|&child| highest[child]).fold(own, f64::max);
    }
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].children.len() > 1).collect();
    // Nodes stand children before parents: equal heights keep that order.
    sort_by(&mut order, |&a, &b| highest[a].total_cmp(&highest[b]).then(a.cmp(&b)), monitor)?;
    let mut label = vec![u32::MAX; nodes.len()];
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    let mut merge_heights = Vec::with_capacity(n.saturating_sub(1));
    for (at, node) in nodes.iter().enumerate() {
        if let Some(leaf) = node.leaf {
            label[at] = leaf as u32;
        }
    }
    // Nodes with one child take the label of the first descendant that has another number of them.
    let passed: Vec<usize> = {
        let mut passed: Vec<usize> = (0..nodes.len()).collect();
        for (at, node) in nodes.iter().enumerate() {
            if let [only] = node.children[..] {
                passed[at] = passed[only];
            }
        }
        passed
    };
    for at in order {
        if merges.len() % BLOCK == 0 {
            monitor.check()?;
        }
        let mut joined = label[passed[nodes[at].children[0]]];
        for &child in &nodes[at].children[1..] {
            merges.push([joined, label[passed[child]]]);
            merge_heights.push(heights[at]);
            joined = (n + merges.len() - 1) as u32;
        }
        label[at] = joined;
    }
    Dendrogram::new(merges, merge_heights, dissimilarity)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Dendrogram, Vec<String>) {
        Dendrogram::from_newick(text).unwrap()
    }

    #[test]
    fn what_others_write_is_read() {
        let (tree, names) = read(" [&R] ( 'it''s (a)' : 1e0 , b[comment]:1)root:0 ; \n");
        assert_eq!(names, ["it's (a)", "b"]);
        assert_eq!((tree.merges(), tree.heights()), (&[[0, 1]][..], &[1.0][..]));
        let (tree, _) = read("(a,b,c,d);");
        assert_eq!(tree.heights(), [1.0; 3]);
        assert_eq!(tree.merges(), [[0, 1], [2, 4], [3, 5]]);
        let (tree, _) = read("(((a)),(b,(c,d)));");
        assert_eq!(tree.merges(), [[2, 3], [1, 4], [0, 5]]);
        assert_eq!(tree.heights(), [1.0, 2.0, 3.0]);
        assert_eq!(read("lone;").0.n_leaves(), 1);
        assert_eq!(read("(a);").0.n_leaves(), 1);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, part) in [
            ("", "no tree"),
            ("(a,b)", "does not end"),
            ("(a,\n(b,c);", "line 2"),
            ("(a,b));", "without its"),
            ("(a,b);(c,d);", "more text"),
            ("(a,a);", "`a` occurs twice"),
            ("(a,);", "without a name"),
            ("(a:x,b:1);", "`x` is no branch length"),
            ("(a,'b);", "quoted name"),
            ("(a,[b);", "inside a comment"),
            ("(a b);", "not expected"),
            ("((", "ends inside the tree"),
        ] {
            let message = Dendrogram::from_newick(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn deep_trees_do_not_overflow_the_stack() {
        let n = 200_000;
        let merges: Vec<[u32; 2]> = (0..n - 1).map(|k| if k == 0 { [0, 1] } else { [k + 1, n + k - 1] }).collect();
        let heights: Vec<f64> = (0..n - 1).map(f64::from).collect();
        let tree = Dendrogram::new(merges, heights, true).unwrap();
        let (back, names) = read(&tree.to_newick::<&str>(None, true, false).unwrap());
        assert_eq!((back.n_leaves(), names.len()), (n as usize, n as usize));
    }

    proptest! {
        #[test]
        fn heights_and_topology_come_back(picks in prop::collection::vec((0usize..100, 0usize..100, 0..5i32), 0..15), dissimilarity: bool) {
            let n = picks.len() + 1;
            let mut there: Vec<u32> = (0..n as u32).collect();
            let mut merges = Vec::new();
            let mut heights = Vec::new();
            let mut height = 0.0;
            for (k, &(a, b, step)) in picks.iter().enumerate() {
                let a = there.remove(a % there.len());
                let b = there.remove(b % there.len());
                merges.push([a, b]);
                there.push((n + k) as u32);
                height += f64::from(step) * 0.1;
                heights.push(if dissimilarity { height } else { -height });
            }
            let tree = Dendrogram::new(merges, heights, dissimilarity).unwrap();
            for lengths in [false, true] {
                let text = tree.to_newick::<&str>(None, lengths, true).unwrap();
                let (back, names) = read(&text);
                let leaves: Vec<u32> = names.iter().map(|name| name.parse().unwrap()).collect();
                let back = back.relabel(&leaves).unwrap();
                let mut ours: Vec<(Vec<u32>, u64)> = clusters(&tree);
                let mut theirs = clusters(&back);
                ours.sort();
                theirs.sort();
                if n > 1 {
                    prop_assert_eq!(back.is_dissimilarity(), dissimilarity);
                }
                prop_assert_eq!(ours, theirs);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[(),;:'\\[\\]ab1 .\n&=é]{0,30}") {
            let _ = Dendrogram::from_newick(&text);
        }
    }

    fn clusters(tree: &Dendrogram) -> Vec<(Vec<u32>, u64)> {
        let mut members: Vec<Vec<u32>> = (0..tree.n_leaves() as u32).map(|leaf| vec![leaf]).collect();
        let mut clusters = Vec::new();
        for (&[a, b], height) in tree.merges().iter().zip(tree.heights()) {
            let mut joined = [members[a as usize].clone(), members[b as usize].clone()].concat();
            joined.sort_unstable();
            clusters.push((joined.clone(), height.to_bits()));
            members.push(joined);
        }
        clusters
    }
}
