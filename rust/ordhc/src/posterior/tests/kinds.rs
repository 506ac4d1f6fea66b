//! Kinds of answers, defined by their questions. For independence, this code does not use `choices` and `luce`.

use super::super::random::Random;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Is the first leaf closer to the second or to the third?
    Closer,
    /// Which of three leaves is the odd one out? The odd leaf comes first in an answer.
    Odd,
    /// Which of three leaves is the most central one? The central leaf comes first in an answer.
    Central,
    /// Which leaves are closest to the first leaf, in order? The leaves that are not ranked come last in an answer.
    Ranked(usize),
    /// Which leaves are closest to the first leaf, in any order?
    Chosen(usize),
    /// Which leaf is closest to the first leaf, and which is farthest from it? The farthest leaf comes last in an
    /// answer.
    Extremes,
}

pub(super) const KINDS: [Kind; 7] =
    [Kind::Closer, Kind::Odd, Kind::Central, Kind::Ranked(1), Kind::Ranked(2), Kind::Chosen(2), Kind::Extremes];

pub(in super::super) fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![vec![]];
    }
    let first = |at: usize| {
        let rest: Vec<usize> = of[..at].iter().chain(&of[at + 1..]).copied().collect();
        permutations(&rest).into_iter().map(move |tail| [vec![of[at]], tail].concat())
    };
    (0..of.len()).flat_map(first).collect()
}

impl Kind {
    /// Returns all answers to a question. Leaves whose order has no meaning are sorted.
    fn answers(self, leaves: &[usize]) -> Vec<Vec<usize>> {
        let n_fixed = usize::from(!matches!(self, Self::Odd | Self::Central));
        let sorted = |of: &[usize]| of.is_sorted();
        let is_one = |order: &Vec<usize>| match self {
            Self::Closer => true,
            Self::Odd | Self::Central => sorted(&order[1..]),
            Self::Ranked(count) => sorted(&order[count..]),
            Self::Chosen(count) => sorted(&order[..count]) && sorted(&order[count..]),
            Self::Extremes => sorted(&order[1..order.len() - 1]),
        };
        let all = permutations(&leaves[n_fixed..]).into_iter().filter(is_one);
        all.map(|order| [leaves[..n_fixed].to_vec(), order].concat()).collect()
    }

    fn clear(self, answer: &[usize], height: &dyn Fn(usize, usize) -> f64) -> f64 {
        let three = |of: &dyn Fn(usize, [usize; 2]) -> f64| {
            let [a, b, c] = [answer[0], answer[1], answer[2]];
            let all = [of(a, [b, c]).exp(), of(b, [a, c]).exp(), of(c, [a, b]).exp()];
            all[0] / all.iter().sum::<f64>()
        };
        let close = |leaf: usize| height(answer[0], leaf).exp();
        let one_by_one = |order: &[usize], count: usize| {
            let left = |at: usize| order[at..].iter().map(|&leaf| close(leaf)).sum::<f64>();
            (0..count).map(|at| close(order[at]) / left(at)).product::<f64>()
        };
        match self {
            Self::Odd => three(&|_, [b, c]| height(b, c)),
            Self::Central => three(&|a, [b, c]| height(a, b) + height(a, c)),
            Self::Closer => one_by_one(&answer[1..], 1),
            Self::Ranked(count) => one_by_one(&answer[1..], count),
            Self::Chosen(count) => {
                let (chosen, others) = answer[1..].split_at(count);
                if let [left_out] = *others {
                    // A person who leaves only one leaf out chooses the farthest leaf.
                    let far = |leaf: usize| (-height(answer[0], leaf)).exp();
                    return far(left_out) / answer[1..].iter().map(|&leaf| far(leaf)).sum::<f64>();
                }
                let in_order = |order: Vec<usize>| one_by_one(&[order, others.to_vec()].concat(), count);
                permutations(chosen).into_iter().map(in_order).sum()
            }
            Self::Extremes => {
                let far = |leaf: usize| (-height(answer[0], leaf)).exp();
                let worst = far(answer[answer.len() - 1]) / answer[2..].iter().map(|&leaf| far(leaf)).sum::<f64>();
                one_by_one(&answer[1..], 1) * worst
            }
        }
    }

    fn rows(self, answer: &[usize]) -> Vec<[i32; 3]> {
        let row = |a: usize, b: usize, c: usize| [a, b, c].map(|leaf| leaf as i32);
        let against = |closer: &[usize], farther: &[usize]| -> Vec<[i32; 3]> {
            closer.iter().flat_map(|&b| farther.iter().map(move |&c| row(answer[0], b, c))).collect()
        };
        match self {
            Self::Odd => vec![row(answer[1], answer[2], answer[0]), row(answer[2], answer[1], answer[0])],
            Self::Central => vec![row(answer[1], answer[0], answer[2]), row(answer[2], answer[0], answer[1])],
            Self::Closer => vec![row(answer[0], answer[1], answer[2])],
            Self::Ranked(count) => (1..=count).flat_map(|at| against(&answer[at..=at], &answer[at + 1..])).collect(),
            Self::Chosen(count) => against(&answer[1..=count], &answer[count + 1..]),
            Self::Extremes => {
                let last = answer.len() - 1;
                [against(&answer[1..2], &answer[2..]), against(&answer[2..last], &answer[last..])].concat()
            }
        }
    }

    fn width(self, n: usize) -> usize {
        if matches!(self, Self::Closer | Self::Odd | Self::Central) { 3 } else { n }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) kind: Kind,
    pub(super) answer: Vec<usize>,
}

impl Reply {
    pub(super) fn drawn(
        kind: Kind,
        n: usize,
        height: &dyn Fn(usize, usize) -> f64,
        noise: f64,
        random: &mut Random,
    ) -> Self {
        let mut leaves: Vec<u32> = (0..n as u32).collect();
        random.shuffle(&mut leaves);
        let leaves: Vec<usize> = leaves[..kind.width(n)].iter().map(|&leaf| leaf as usize).collect();
        let mut left = random.uniform();
        let all = kind.answers(&leaves);
        let ends_here = |answer: &&Vec<usize>| {
            left -= Self { kind, answer: (*answer).clone() }.probability(height, noise);
            left <= 0.0
        };
        Self { kind, answer: all.iter().find(ends_here).unwrap_or(&all[0]).clone() }
    }

    pub(super) fn clear(&self, height: &dyn Fn(usize, usize) -> f64) -> f64 {
        self.kind.clear(&self.answer, height)
    }

    pub(super) fn by_chance(&self) -> f64 {
        1.0 / self.kind.answers(&self.answer).len() as f64
    }

    pub(super) fn probability(&self, height: &dyn Fn(usize, usize) -> f64, noise: f64) -> f64 {
        2.0 * noise * self.by_chance() + (1.0 - 2.0 * noise) * self.clear(height)
    }
}

pub(super) fn rows_of(replies: &[Reply]) -> (Vec<[i32; 3]>, Vec<u32>) {
    let each = |(at, reply): (usize, &Reply)| {
        reply.kind.rows(&reply.answer).into_iter().map(move |row| (row, at as u32)).collect::<Vec<_>>()
    };
    replies.iter().enumerate().flat_map(each).unzip()
}

pub(super) fn replies(n: usize, each: usize, seed: u64) -> Vec<Reply> {
    let mut random = Random::new(seed, 17);
    let all = KINDS.into_iter().flat_map(|kind| std::iter::repeat_n(kind, each));
    all.map(|kind| Reply::drawn(kind, n, &|_, _| 0.0, 0.0, &mut random)).collect()
}

#[test]
fn answers_to_a_question_have_a_probability_of_one_together() {
    let height = |a: usize, b: usize| 0.3 * (a * b) as f64 - 0.1 * (a + b) as f64;
    for kind in KINDS.into_iter().chain([Kind::Chosen(3), Kind::Ranked(4)]) {
        let leaves = [3, 0, 4, 1, 2, 5];
        let all = kind.answers(&leaves[..kind.width(6)]);
        let sum: f64 = all.iter().map(|answer| kind.clear(answer, &height)).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{kind:?} {sum}");
    }
}
