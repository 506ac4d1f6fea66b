//! Properties of all public types: they can be sent to other threads, and names are parsed as they are written.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use ordhc::agglomerate::{Agglomeration, Engine, Layout, Linkage, Matrix, Missing, SparsePairs, Values};
use ordhc::bindings::LcaSizes;
use ordhc::bindings::{LevelScores, SessionLearner};
use ordhc::embedding::{EmbeddingLoss, Model};
use ordhc::generate::{PlantedModel, QuadrupletOracle, TreeOracle, TreeShape, Wrong};
use ordhc::learn::{Assume, Learner, Limits, Method, Noise, QuadrupletMethod, Question, Schedule};
use ordhc::linkage::{Formula, LanceWilliams, Rule};
use ordhc::metric::{Itself, KendallTau, Satisfied};
use ordhc::tree::{Annotations, Newick, NewickTree, Partition, Topology, Underscores};
use ordhc::vectors::{Measure, SparseRows, Vectors};
use ordhc::{Dendrogram, Error, Kind, Monitor, Position, Quadruplets, Triplets};

#[test]
fn public_types_may_go_to_other_threads() {
    fn fine<T: Send + Sync>() {}
    fine::<(Error, Position, Kind, Monitor, Dendrogram, Triplets<'_>, Quadruplets<'_>)>();
    fine::<(Agglomeration<'_>, Engine, Layout, Matrix<'_>, Missing, SparsePairs, Values<'_>)>();
    fine::<(Rule, LanceWilliams, Formula, Partition, Topology, LcaSizes)>();
    fine::<(Newick<'_>, NewickTree, Annotations, Underscores, Measure)>();
    fine::<(SparseRows<'_, i32, f64>, Vectors<'_>, EmbeddingLoss, Model)>();
    fine::<(KendallTau, LevelScores, Satisfied, Itself)>();
    fine::<(PlantedModel, QuadrupletOracle, TreeOracle, TreeShape, Wrong)>();
    fine::<(Method, QuadrupletMethod, Question, Limits, Assume, Noise, Schedule)>();
    // Learners have mutable state: they can be sent to another thread, but not shared.
    fn goes<T: Send + ?Sized>() {}
    goes::<Box<dyn Learner>>();
    goes::<Box<dyn Learner<4>>>();
    goes::<SessionLearner>();
    fn linkages_are_objects(_: &dyn Linkage) {}
    let _ = linkages_are_objects;
}

fn names<T: FromStr<Err = Error> + Display + Debug + PartialEq>(all: &[&str], kind: &str) {
    for name in all {
        let read: T = name.parse().unwrap();
        assert_eq!(read.to_string(), *name);
        assert_eq!(read.to_string().parse::<T>().unwrap(), read);
    }
    let error = "no such name".parse::<T>().unwrap_err();
    assert_eq!(error.to_string(), format!("unknown {kind} `no such name`; there are {}", all.join(", ")));
}

#[test]
fn names_are_read_as_they_are_written() {
    names::<Engine>(Engine::NAMES, "engine");
    names::<Layout>(Layout::NAMES, "layout");
    names::<Missing>(Missing::NAMES, "missing");
    names::<Measure>(Measure::NAMES, "measure");
    names::<Rule>(Rule::NAMES, "linkage");
    names::<Model>(Model::NAMES, "model");
    names::<Kind>(Kind::NAMES, "kind");
    names::<Underscores>(Underscores::NAMES, "underscores");
    names::<Assume>(Assume::NAMES, "assume");
    names::<Noise>(Noise::NAMES, "noise");
    names::<Schedule>(Schedule::NAMES, "schedule");
    names::<Method>(Method::NAMES, "learner");
    names::<QuadrupletMethod>(QuadrupletMethod::NAMES, "learner");
    names::<TreeShape>(TreeShape::NAMES, "shape");
    names::<Wrong>(Wrong::NAMES, "wrong");
    names::<Itself>(Itself::NAMES, "itself");
}
