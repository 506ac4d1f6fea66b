mod balance;
pub(super) mod exact;
pub(super) mod kinds;
mod ranks;
mod rooting;

use proptest::prelude::*;

use super::answers::{Answer, Answers};
use super::chain::{Chain, ChainState};
use super::choice_heights::ChoiceHeights;
use super::height_tree::{HeightTree, NONE, Place, Spans};
use super::lengths::Lengths;
use super::node_sums::NodeSums;
use super::places::{Rest, Scores};
use super::prior::Shapes;
use super::random::Random;
use super::reliability::Noises;
use super::sampled::Sampled;
use super::terms::Terms;
use super::*;
use crate::comparison::{Comparisons, Triplets};
use crate::generate::{TreeShape, random_tree};
use crate::monitor::Monitor;
use crate::tree::Dendrogram;

/// The clusters of at least two leaves of a tree, in ascending order. A cluster is a bit mask of its leaves.
type Clusters = Vec<u32>;

fn clusters(tree: &HeightTree) -> Clusters {
    let mut order = Vec::new();
    let of = |node: u32| {
        let mut order = Vec::new();
        tree.nodes_under(node, &mut order);
        order.iter().filter(|&&node| tree.is_leaf(node)).fold(0, |set, leaf| set | 1 << leaf)
    };
    tree.nodes_under(tree.root(), &mut order);
    let mut all: Clusters = order.iter().filter(|&&node| !tree.is_leaf(node)).map(|&node| of(node)).collect();
    all.sort_unstable();
    all
}

fn all_sets(tree: &Dendrogram, sets: &mut Vec<u32>) {
    for node in tree.n_leaves()..tree.topology().n_nodes() {
        sets.push(tree.topology().children(node).iter().fold(0, |all, &child| all | sets[child as usize]));
    }
}

fn kept_clusters(tree: &Dendrogram) -> Clusters {
    let n = tree.n_leaves();
    let mut sets: Vec<u32> = (0..n).map(|leaf| 1 << leaf).collect();
    all_sets(tree, &mut sets);
    let mut all: Clusters = sets.split_off(n);
    all.sort_unstable();
    all
}

fn start(n: usize) -> Dendrogram {
    random_tree(TreeShape::Yule, n, 5).unwrap()
}

fn chain_with<'a>(
    lengths: Lengths,
    answers: &'a Answers,
    shapes: &'a Shapes,
    noises: Noises,
    n: usize,
    random: Random,
) -> Chain<'a> {
    Chain::at(answers, shapes, ChainState::new(shapes, noises, lengths, HeightTree::of(&start(n)), random)).unwrap()
}

fn answers_of<const K: usize>(n: usize, m: usize, seed: u64) -> Comparisons<'static, K> {
    let mut random = Random::new(seed, 9);
    let mut rows = Vec::new();
    while rows.len() < m {
        let row: [i32; K] = std::array::from_fn(|_| random.below(n) as i32);
        if Comparisons::new(vec![row], Some(n)).is_ok() {
            rows.push(row);
        }
    }
    let weights: Vec<f64> = (0..m).map(|_| random.below(4) as f64 / 2.0).collect();
    Comparisons::new(rows, Some(n)).unwrap().with_weights(weights).unwrap()
}

fn height(tree: &HeightTree, [a, b]: [u32; 2]) -> f64 {
    let path = |leaf: u32| std::iter::successors(Some(leaf), |&node| Some(tree.parent(node)).filter(|&up| up != NONE));
    let above: Vec<u32> = path(a).collect();
    tree.height(path(b).find(|node| above.contains(node)).unwrap())
}

fn log_likelihood(tree: &HeightTree, answers: &Answers, chain: &Chain<'_>) -> f64 {
    let (noises, lengths) = (&chain.noises, &chain.lengths);
    let of = |answer: &Answer| {
        let link = noises.of(answer.person);
        let difference = height(tree, answer.near) - height(tree, answer.far);
        answer.weight * link.log(difference + lengths.offset(answer))
    };
    let choices = answers.choices();
    let of_choice = |choice: usize| {
        let pairs = choices.pairs(choice).iter();
        let weights: Vec<f64> = pairs.map(|&pair| (height(tree, pair) + lengths.closeness(pair)).exp()).collect();
        let clear = super::luce::probability(&weights, choices.blocks(choice));
        let noise = noises.of(choices.person(choice)).noise();
        choices.weight(choice) * choices.log(choice, clear, noise)
    };
    answers.all().iter().map(of).sum::<f64>() + (0..choices.len()).map(of_choice).sum::<f64>()
}

fn kinds_of(n: usize, each: usize, seed: u64) -> (Comparisons<'static, 3>, Vec<u32>, Vec<u32>) {
    let (rows, numbers) = kinds::rows_of(&kinds::replies(n, each, seed));
    let weights: Vec<f64> = numbers.iter().map(|&number| f64::from(number % 4) / 2.0).collect();
    let people = numbers.iter().map(|&number| number % 3).collect();
    (Comparisons::new(rows, Some(n)).unwrap().with_weights(weights).unwrap(), numbers, people)
}

fn people_of(m: usize, seed: u64) -> Option<Vec<u32>> {
    seed.is_multiple_of(2).then(|| (0..m).map(|at| (at % 3) as u32).collect())
}

fn people_only(people: Option<&[u32]>) -> Belonging<'_> {
    Belonging { people, ..Belonging::default() }
}

fn assert_valid(tree: &HeightTree) {
    let mut order = Vec::new();
    tree.nodes_under(tree.root(), &mut order);
    let mut seen = order.clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), order.len());
    assert_eq!(order.iter().filter(|&&node| tree.is_leaf(node)).count(), tree.n_leaves());
    assert_eq!(order.len() - tree.n_leaves(), tree.n_inner());
    assert_eq!((0..tree.n_nodes() as u32).filter(|&node| tree.is_there(node)).count(), order.len());
    for &node in &order {
        let children: Vec<u32> = tree.children(node).collect();
        assert_eq!(children.len(), tree.degree(node) as usize);
        assert!(tree.is_leaf(node) || children.len() > 1);
        for child in children {
            assert_eq!(tree.parent(child), node);
            assert!(tree.is_leaf(child) || tree.height(child) > tree.height(node));
        }
    }
}

fn assert_scores_are_true<const K: usize>(comparisons: &Comparisons<'_, K>, belonging: &Belonging<'_>, seed: u64) {
    let n = comparisons.n_leaves();
    let (answers, shapes) = (Answers::new(comparisons, belonging).unwrap(), Shapes::new(n).unwrap());
    let noises = Noises::new(belonging.people.map(|_| 3)).unwrap();
    let lengths = Lengths::new(if seed.is_multiple_of(3) { n } else { 0 });
    let mut chain = chain_with(lengths, &answers, &shapes, noises, n, Random::new(seed, 1));
    let mut random = Random::new(seed, 2);
    for _ in 0..1 + seed % 3 {
        chain.sweep(&Monitor::new()).unwrap();
        assert_valid(&chain.tree);
        let exact = log_likelihood(&chain.tree, &answers, &chain);
        assert!((chain.log_likelihood - exact).abs() < 1e-9 * (1.0 + exact.abs()), "{} {exact}", chain.log_likelihood);
    }
    let noises = chain.noises.clone();
    for top in 0..2 * n as u32 - 1 {
        let mut tree = chain.tree.clone();
        let there = tree.is_there(top);
        let Some(here) = (if there { tree.cut(top) } else { None }) else { continue };
        let (mut order, mut moving, mut spans) = (Vec::new(), Vec::new(), Spans::new(tree.n_nodes()));
        tree.nodes_under(tree.root(), &mut order);
        tree.nodes_under(top, &mut moving);
        spans.follow(&tree, &order);
        spans.follow(&tree, &moving);
        let leaves: Vec<u32> = moving.iter().copied().filter(|&node| tree.is_leaf(node)).collect();
        let inside: Vec<bool> = (0..n as u32).map(|leaf| leaves.contains(&leaf)).collect();
        let mut scores = Scores::new(tree.n_nodes());
        for &node in &order {
            let lowest = if node == tree.root() { tree.height(node) - 2.0 } else { tree.height(tree.parent(node)) };
            let highest = if tree.is_leaf(node) { lowest + 3.0 } else { tree.height(node) };
            scores.set_new(node, lowest + (highest - lowest) * (0.1 + 0.8 * random.uniform()));
        }
        let lengths = &chain.lengths;
        let rest = Rest { tree: &tree, spans: &spans, inside: &inside, noises: &noises, lengths };
        scores.fill(&rest, &answers, &leaves, [&order, &moving]);
        let places = order.iter().flat_map(|&node| {
            let spot = scores.of(node);
            let under = (!tree.is_leaf(node)).then_some((Place::Under(node), spot.under));
            under.into_iter().chain([(Place::Beside(node, spot.new), spot.beside)])
        });
        let worth: Vec<f64> = places
            .map(|(place, score)| {
                let mut moved = tree.clone();
                moved.put(top, place);
                log_likelihood(&moved, &answers, &chain) - score
            })
            .collect();
        // The log-likelihood minus the score must be the same for all places of the subtree.
        worth.iter().for_each(|&worth_here| assert!((worth_here - worth[0]).abs() < 1e-6, "{worth:?}"));
        tree.put(top, here);
        assert_eq!(clusters(&tree), clusters(&chain.tree));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 50, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn scores_of_places_are_true(n in 3..11usize, m in 0..60usize, seed: u64) {
        let people = people_of(m, seed);
        assert_scores_are_true::<3>(&answers_of(n, m, seed), &people_only(people.as_deref()), seed);
        assert_scores_are_true::<4>(&answers_of(n, m, seed), &people_only(people.as_deref()), seed);
    }

    #[test]
    fn scores_of_all_kinds_are_true(n in 4..8usize, each in 1..5usize, seed: u64) {
        let (comparisons, numbers, people) = kinds_of(n, each, seed);
        let people = Some(&people[..]).filter(|_| seed % 2 == 0);
        assert_scores_are_true::<3>(&comparisons, &Belonging { answers: Some(&numbers), people }, seed);
    }

    #[test]
    fn gains_of_all_kinds_are_true(n in 4..8usize, each in 1..5usize, seed: u64, with_lengths: bool) {
        let (comparisons, numbers, people) = kinds_of(n, each, seed);
        let people = Some(&people[..]).filter(|_| seed % 2 == 0);
        let belonging = Belonging { answers: Some(&numbers), people };
        let (answers, shapes) = (Answers::new(&comparisons, &belonging).unwrap(), Shapes::new(n).unwrap());
        prop_assert!(answers.n_unknown() == 0 && !answers.choices().is_empty());
        let lengths = Lengths::new(if with_lengths { n } else { 0 });
        let noises = Noises::new(people.map(|_| 3)).unwrap();
        let mut chain = chain_with(lengths.clone(), &answers, &shapes, noises, n, Random::new(seed, 1));
        chain.sweep(&Monitor::new()).unwrap();
        let mut terms = Terms::new(n, 2 * n - 1, &answers).unwrap();
        let mut choices = ChoiceHeights::new(2 * n - 1, answers.choices()).unwrap();
        let (mut order, mut spans) = (Vec::new(), Spans::new(2 * n - 1));
        chain.tree.nodes_under(chain.tree.root(), &mut order);
        spans.follow(&chain.tree, &order);
        terms.follow(&chain.tree, &spans, &answers, &chain.lengths);
        choices.follow(&chain.tree, &spans, answers.choices(), &chain.lengths);
        let mut before = log_likelihood(&chain.tree, &answers, &chain);
        prop_assert!((before - chain.log_likelihood).abs() < 1e-8 * (1.0 + before.abs()));
        for &node in &order {
            if chain.tree.is_leaf(node) && !with_lengths {
                continue;
            }
            let gain = if chain.tree.is_leaf(node) {
                let old = chain.lengths.of(node);
                let gain = terms.gain_of_length(&chain.noises, node, 0.6)
                    + choices.gain_of_length(answers.choices(), &chain.noises, node, 0.6);
                chain.lengths.set(node, old + 0.6);
                terms.accept_length(node, 0.6);
                choices.accept_length(answers.choices(), node, 0.6);
                gain
            } else {
                let old = chain.tree.height(node);
                let gain = terms.gain(&chain.noises, node, 0.7)
                    + choices.gain(answers.choices(), &chain.noises, node, old + 0.7);
                chain.tree.set_height(node, old + 0.7);
                terms.accept(node, 0.7);
                choices.accept(node);
                gain
            };
            let after = log_likelihood(&chain.tree, &answers, &chain);
            prop_assert!((after - before - gain).abs() < 1e-7, "{gain} {before} {after}");
            before = after;
        }
        let log = |person: u32, x: f64| chain.noises.of(person).log(x);
        let noise = |person: u32| chain.noises.of(person).noise();
        let of_choices = |choices: &ChoiceHeights, chain: &Chain<'_>, factor: f64| {
            choices.log_likelihood(&chain.tree, answers.choices(), &chain.lengths, factor, noise)
        };
        let as_they_are = terms.log_likelihood(1.0, log) + of_choices(&choices, &chain, 1.0);
        prop_assert!((as_they_are - before).abs() < 1e-7);
        let larger = terms.log_likelihood(1.3, log) + of_choices(&choices, &chain, 1.3);
        let mut scaled = chain_with(lengths, &answers, &shapes, chain.noises.clone(), n, Random::new(seed, 1));
        scaled.tree = chain.tree.clone();
        scaled.lengths = chain.lengths.clone();
        scaled.tree.scale_heights(1.3);
        scaled.lengths.scale(1.3);
        prop_assert!((log_likelihood(&scaled.tree, &answers, &scaled) - larger).abs() < 1e-7);
    }

    #[test]
    fn gains_of_heights_are_true(n in 3..12usize, m in 0..80usize, seed: u64) {
        let comparisons = answers_of::<4>(n, m, seed);
        let people = people_of(m, seed);
        let (answers, shapes) = (Answers::new(&comparisons, &people_only(people.as_deref())).unwrap(), Shapes::new(n).unwrap());
        let noises = Noises::new(people.map(|_| 3)).unwrap();
        let mut chain = chain_with(Lengths::new(0), &answers, &shapes, noises, n, Random::new(seed, 1));
        chain.sweep(&Monitor::new()).unwrap();
        let (mut order, mut spans) = (Vec::new(), Spans::new(2 * n - 1));
        let mut node_sums = NodeSums::new(2 * n - 1, answers.all().len(), chain.noises.n_levels()).unwrap();
        chain.tree.nodes_under(chain.tree.root(), &mut order);
        spans.follow(&chain.tree, &order);
        node_sums.follow(&chain.tree, &spans, &answers, &chain.noises);
        let before = log_likelihood(&chain.tree, &answers, &chain);
        let log = |level: u8, difference: f64| chain.noises.link(level).log(difference);
        prop_assert!((node_sums.log_likelihood(&chain.tree, 1.0, log) - before).abs() < 1e-8);
        for &node in order.iter().filter(|&&node| !chain.tree.is_leaf(node)) {
            let height = chain.tree.height(node) + 0.7;
            let mut other = chain.tree.clone();
            other.set_height(node, height);
            let gain = log_likelihood(&other, &answers, &chain) - before;
            prop_assert!((node_sums.gain(&chain.tree, &chain.noises, node, height) - gain).abs() < 1e-8);
        }
    }

    #[test]
    fn samples_agree_with_their_trees(n in 3..14usize, m in 1..60usize, seed: u64) {
        let comparisons = answers_of::<3>(n, m, seed);
        let sampling = Sampling { chains: 2, sweeps: 6, burn_in: 2, kept: 5, seed, ..Sampling::default() };
        let samples = sample(&comparisons, &start(n), &sampling, None).unwrap();
        prop_assert_eq!(samples.len(), 6);
        let mut pairs = vec![0.0; n * (n - 1) / 2];
        samples.similarity(&mut pairs, None).unwrap();
        let trees: Vec<_> = (0..samples.len()).map(|at| samples.tree(at).unwrap()).collect();
        let height = |tree: &Dendrogram, a: usize, b: usize| {
            let mut sets: Vec<u32> = (0..n).map(|leaf| 1 << leaf).collect();
            let both = 1 << a | 1 << b;
            tree.merges().iter().zip(tree.merge_heights().iter()).find_map(|(&[a, b], &height)| {
                sets.push(sets[a as usize] | sets[b as usize]);
                (sets[sets.len() - 1] & both == both).then_some(height)
            }).unwrap()
        };
        let mut outside = vec![0.0; n * (n - 1) / 2];
        samples.mean_of_pairs(&mut outside, Sampled::add_outside, None).unwrap();
        let mut at = 0;
        for a in 0..n {
            for b in a + 1..n {
                let says = |tree: &Dendrogram, one: usize, other: usize, third: usize| {
                    f64::from((height(tree, one, other) - height(tree, one, third)).total_cmp(&0.0) as i8)
                };
                let of = |tree: &Dendrogram| {
                    let third = (0..n).filter(|&third| third != a && third != b);
                    third.map(|third| says(tree, a, b, third) + says(tree, b, a, third)).sum::<f64>()
                };
                let adds = trees.iter().map(of).sum::<f64>() / trees.len() as f64;
                prop_assert!((outside[at] - adds).abs() < 1e-9);
                let mean = trees.iter().map(|tree| height(tree, a, b)).sum::<f64>() / trees.len() as f64;
                prop_assert!((pairs[at] - mean).abs() < 1e-9);
                at += 1;
            }
        }
        let verdicts = samples.verdict(&comparisons).unwrap();
        for (row, verdict) in comparisons.rows().iter().zip(verdicts) {
            let [a, b, c] = row.map(|leaf| leaf as usize);
            let says = |tree: &Dendrogram| match height(tree, a, b).total_cmp(&height(tree, a, c)) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
            let told: Vec<f64> = trees.iter().map(says).filter(|&says| says != 0.5).collect();
            let share = (told.iter().sum::<f64>() + 0.5) / (told.len() as f64 + 1.0);
            prop_assert!((verdict - share).abs() < 1e-12);
        }
        let swapped: Vec<[i32; 3]> = comparisons.rows().iter().map(|[a, b, c]| [a, c, b]).collect();
        let against = samples.predict(&Triplets::new(swapped, Some(n)).unwrap()).unwrap();
        for (p, q) in samples.predict(&comparisons).unwrap().into_iter().zip(against) {
            prop_assert!((p + q - 1.0).abs() < 1e-12 && p > 0.0 && p < 1.0);
        }
        let first = &trees[0];
        let found = samples.support(first.topology()).unwrap();
        let all: Vec<Clusters> = trees.iter().map(kept_clusters).collect();
        let mut sets: Vec<u32> = (0..n).map(|leaf| 1 << leaf).collect();
        all_sets(first, &mut sets);
        for (set, support) in sets[n..].iter().zip(found) {
            let share = all.iter().filter(|clusters| clusters.contains(set)).count() as f64 / all.len() as f64;
            prop_assert!((support - share).abs() < 1e-12);
        }
    }
}

#[test]
fn chains_do_not_depend_on_each_other() {
    let comparisons = answers_of::<3>(12, 100, 4);
    let of = |chains: usize| {
        let sampling = Sampling { chains, sweeps: 10, burn_in: 5, kept: 5 * chains, seed: 8, ..Sampling::default() };
        sample(&comparisons, &start(12), &sampling, None).unwrap()
    };
    let (one, three) = (of(1), of(3));
    assert_eq!(one.states()[0], three.states()[0]);
    assert_eq!(one.tree(4).unwrap(), three.tree(4).unwrap());
    assert_ne!(three.states()[0], three.states()[1]);
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let answers = answers_of::<3>(5, 10, 1);
    let refused = |sampling: Sampling| sample(&answers, &start(5), &sampling, None).unwrap_err().to_string();
    assert_eq!(refused(Sampling { chains: 0, ..Sampling::default() }), "chains = 0 is outside 1..");
    let late = Sampling { sweeps: 10, burn_in: 10, ..Sampling::default() };
    assert_eq!(refused(late), "burn_in = 10 is outside 0..10 (sweeps)");
    assert!(sample(&answers, &start(6), &Sampling::default(), None).is_err());
    let few =
        crate::bindings::sample_answers(&answers, &people_only(Some(&[0, 1])), &start(5), &Sampling::default(), None)
            .unwrap_err();
    assert!(few.to_string().contains("people"), "{few}");
    let monitor = Monitor::new();
    monitor.cancel();
    let stopped = sample(&answers, &start(5), &Sampling::default(), Some(&monitor));
    assert_eq!(stopped.unwrap_err(), crate::Error::Interrupted);
    let pair = Triplets::new(Vec::<[i32; 3]>::new(), Some(2)).unwrap();
    let samples = sample(&pair, &start(2), &Sampling::default(), None).unwrap();
    assert!(samples.is_empty() && samples.support(start(2).topology()).is_err());
}
