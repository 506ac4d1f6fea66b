//! Trees sampled from the posterior, given the answers so far.

use super::Answer;
use crate::agglomerate::{Agglomeration, Layout, Matrix, Values};
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory::{self, Buffer};
use crate::monitor::Monitor;
use crate::posterior::{Belonging, Samples, Sampling, sample_from, satisfying};
use crate::refine::{Heights, Search, refine};
use crate::search::Sketch;
use crate::similarity::{adds, condensed_len};
use crate::sorting::{order_by_key, order_of};
use crate::tree::Dendrogram;

/// Returns trees sampled from the posterior, given some answers. The order of the answers does not matter.
///
/// Questions ask about uncertain parts of the tree, so a linkage of the answers gives a poor tree. A Markov chain that
/// starts at the poor tree may never correct the largest clusters of this tree. So a first run, with half of the sweeps
/// (iterations of a chain), starts its chains at several trees. Then all chains of the second run start at the most
/// likely tree of the first run.
pub(super) fn draw<const K: usize>(
    n: usize,
    answers: &[Answer<K>],
    sampling: &Sampling,
    monitor: Option<&Monitor>,
) -> Result<Samples> {
    let (answers, n_people) = by_person(answers);
    let (mut rows, mut weights, mut numbers, mut people) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut number = 0;
    for (leaves, answer, person) in answers {
        let told = said(leaves.map(|leaf| leaf as i32), answer);
        // If the answer is "neither" or "unknown", give all possible answers the same weight.
        let weight = 1.0 / told.len() as f64;
        for one in told {
            for row in one {
                rows.push(row);
                weights.push(weight);
                numbers.push(number);
                people.push(person);
            }
            number += 1;
        }
    }
    let belonging = Belonging { answers: Some(&numbers), people: Some(&people[..]).filter(|_| n_people > 1) };
    let answers = Comparisons::<K>::new(rows, Some(n))?.with_weights(weights)?;
    let mut pairs = Buffer::zeros("the similarities", condensed_len(n))?;
    adds(&answers, &mut pairs[..], monitor)?;
    let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity)?;
    let start = Agglomeration::new(Rule::Average).monitor(monitor).run(&matrix)?;
    let start = refine(start.topology(), &matrix, Heights::Average, &Search::default(), monitor)?.tree;
    let mut starts = vec![start];
    starts.extend(satisfying(&answers, monitor)?);
    let half = (sampling.sweeps / 2).max(1);
    let first = Sampling { sweeps: half, burn_in: half - 1, kept: sampling.chains, ..*sampling };
    let found = sample_from(&answers, &belonging, &starts, &first, monitor)?;
    let likelihood = |at: &usize| found.states()[*at].last().map_or(f64::NEG_INFINITY, |state| state.log_likelihood);
    let best = (0..found.len()).max_by(|a, b| likelihood(a).total_cmp(&likelihood(b)));
    if let Some(best) = best {
        starts = vec![found.tree(best)?];
    }
    sample_from(&answers, &belonging, &starts, sampling, monitor)
}

pub(super) fn linked<const K: usize>(n: usize, answers: &[Answer<K>], monitor: Option<&Monitor>) -> Result<Dendrogram> {
    let mut rows: Vec<[i32; K]> = memory::room("comparisons", answers.len() * if K == 4 { 1 } else { 2 })?;
    for (leaves, answer, _) in answers {
        if let [one] = &said(leaves.map(|leaf| leaf as i32), *answer)[..] {
            rows.extend(one.iter().copied());
        }
    }
    let answers = Comparisons::<K>::new(rows, Some(n))?;
    let mut pairs = Buffer::zeros("the similarities", condensed_len(n))?;
    adds(&answers, &mut pairs[..], monitor)?;
    Agglomeration::new(Rule::Average).monitor(monitor).run_in_place(&mut pairs, Layout::Condensed, Kind::Similarity)
}

/// Returns the sorted answers, each with the index of its person, and the number of people.
///
/// The result depends neither on the ids of people nor on the order of `answers`: people are sorted by their lists of
/// answers, and indexed in this order. All unknown people count as one person.
fn by_person<const K: usize>(answers: &[Answer<K>]) -> (Vec<([u32; K], i8, u32)>, usize) {
    let mut sorted = answers.to_vec();
    order_by_key(&mut sorted, |(leaves, answer, who)| (who, leaves, answer));
    let people: Vec<Vec<([u32; K], i8)>> = sorted
        .chunk_by(|one, other| one.2 == other.2)
        .map(|theirs| theirs.iter().map(|&(leaves, answer, _)| (leaves, answer)).collect())
        .collect();
    let count = people.len();
    let order = order_of(count, &|one, other| people[one].cmp(&people[other]));
    let numbered = order
        .into_iter()
        .zip(0..)
        .flat_map(|(at, person)| people[at].iter().map(move |&(leaves, answer)| (leaves, answer, person)));
    let mut found: Vec<_> = numbered.collect();
    order_by_key(&mut found, |answer| answer);
    (found, count)
}

/// Returns the comparisons of an answer: two triplets for an odd one out, or one comparison of two pairs. For the
/// answer "neither" or "unknown", returns the comparisons of each possible answer.
fn said<const K: usize>(leaves: [i32; K], answer: i8) -> Vec<Vec<[i32; K]>> {
    let row = |at: [usize; 4]| std::array::from_fn(|place| leaves[at[place]]);
    let all = if K == 4 {
        vec![vec![row([2, 3, 0, 1])], vec![row([0, 1, 2, 3])]]
    } else {
        let odd = |odd: usize, a: usize, b: usize| vec![row([a, b, odd, 0]), row([b, a, odd, 0])];
        vec![odd(0, 1, 2), odd(1, 0, 2), odd(2, 0, 1)]
    };
    let at = match (K, answer) {
        (4, -1) => 0,
        (4, 1) => 1,
        (3, 0..=2) => answer as usize,
        _ => return all,
    };
    vec![all[at].clone()]
}

/// Returns one tree that summarizes the likely trees. Leaves without answers are joined last.
pub(super) fn best_tree<const K: usize>(
    n: usize,
    answers: &[Answer<K>],
    seen: &[bool],
    sampling: &Sampling,
    monitor: Option<&Monitor>,
) -> Result<Dendrogram> {
    let here: Vec<u32> = (0..n as u32).filter(|&leaf| seen[leaf as usize]).collect();
    if here.len() < 3 {
        return Sketch::default().finish(n);
    }
    let mut number = vec![0u32; n];
    here.iter().zip(0..).for_each(|(&leaf, new)| number[leaf as usize] = new);
    let moved = |&(leaves, answer, who): &Answer<K>| (leaves.map(|leaf| number[leaf as usize]), answer, who);
    let renumbered: Vec<Answer<K>> = answers.iter().map(moved).collect();
    let tree = draw(here.len(), &renumbered, sampling, monitor)?.summary(monitor)?;
    let top = tree.heights().iter().copied().fold(f64::NEG_INFINITY, f64::max) + 1.0;
    let heights = tree.heights().iter().map(|height| top - height).collect();
    Dendrogram::new(tree.merges().to_vec(), heights, Kind::Dissimilarity)?.with_rest(&here, n)
}
