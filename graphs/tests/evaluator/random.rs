//! Random graphs and random edits against a model that computes everything, plainly.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sinew_graph::evaluate::Options;
use sinew_graph::{Evaluator, Value};

use crate::kit::*;

/// A node of the model: its type, its number, its sources (all earlier).
#[derive(Clone, Debug)]
struct Model {
    nodes: Vec<(u8, i8, Vec<usize>)>,
}

fn model() -> impl Strategy<Value = Model> {
    let node = (0..4u8, -3..4i8, prop::collection::vec(any::<prop::sample::Index>(), 0..4));
    prop::collection::vec(node, 2..40).prop_map(|nodes| Model {
        nodes: nodes
            .into_iter()
            .enumerate()
            .map(|(k, (kind, number, sources))| {
                let sources: Vec<usize> =
                    if k == 0 { Vec::new() } else { sources.iter().map(|source| source.index(k)).collect() };
                let kind = if sources.is_empty() { 0 } else { kind };
                (kind, number, if kind >= 2 { vec![sources[0]] } else { sources })
            })
            .collect(),
    })
}

impl Model {
    fn doc(&self) -> Doc {
        let mut doc = Doc::default();
        for (k, (kind, number, sources)) in self.nodes.iter().enumerate() {
            let id = format!("m{k}");
            let froms: Vec<String> = sources.iter().map(|source| format!("m{source}")).collect();
            let froms: Vec<&str> = froms.iter().map(String::as_str).collect();
            let number = f64::from(*number);
            doc = match kind {
                0 if froms.is_empty() => doc.add(&id, "test.number").num(&id, "value", number + 0.5),
                0 | 1 => doc.add(&id, "test.sum").num(&id, "offset", number).wire(&froms, (&id, "inputs")),
                2 => doc.add(&id, "test.floor").wire(&froms, (&id, "input")),
                _ => doc.add(&id, "test.root").wire(&froms, (&id, "input")),
            };
        }
        doc
    }

    /// What every node gives; `None` for those that fail or hang on one that does.
    fn values(&self) -> Vec<Option<f64>> {
        let mut values: Vec<Option<f64>> = Vec::new();
        for (kind, number, sources) in &self.nodes {
            let inputs: Option<Vec<f64>> = sources.iter().map(|&source| values[source]).collect();
            let number = f64::from(*number);
            values.push(inputs.and_then(|inputs| match kind {
                0 if inputs.is_empty() => Some(number + 0.5),
                0 | 1 => Some(inputs.iter().sum::<f64>() + number),
                2 => Some(inputs[0].floor()),
                _ => (inputs[0] >= 0.0).then(|| inputs[0].sqrt()),
            }));
        }
        values
    }

    fn outputs(&self) -> Vec<String> {
        (0..self.nodes.len()).map(|k| format!("m{k}")).collect()
    }
}

fn check(evaluator: &Evaluator, model: &Model, ask: &[&str]) -> BTreeMap<String, Option<Value>> {
    let evaluation = evaluator.evaluate(model.doc().ask(ask));
    let values = model.values();
    let mut found = BTreeMap::new();
    for &output in ask {
        let k: usize = output[1..].parse().unwrap();
        let value = evaluation.value(&out(output)).cloned();
        let why = value.as_ref().err().map(ToString::to_string);
        let value = value.ok();
        let number = value.as_ref().map(|value| value.get::<sinew_graph::basic::Number>().unwrap().0);
        assert_eq!(number.map(f64::to_bits), values[k].map(f64::to_bits), "{output} ({why:?}) of {model:?}");
        found.insert(output.to_owned(), value);
    }
    found
}

#[test]
fn same_bits_for_one_and_four_workers_and_any_budget() {
    let (registry, _) = registry(vec![]);
    let one = evaluator(&registry, 1);
    let four = evaluator(&registry, 4);
    let none = Options { budget: 0, workers: 2.try_into().unwrap(), ..Options::default() };
    let none = Evaluator::new(registry.clone(), none).unwrap();
    let mut runner = TestRunner::new(Config::with_cases(200));
    let run = runner.run(&model(), |model| {
        let outputs = model.outputs();
        let ask: Vec<&str> = outputs.iter().map(String::as_str).collect();
        for evaluator in [&one, &four, &none] {
            check(evaluator, &model, &ask);
            check(evaluator, &model, &ask[ask.len() - 1..]);
        }
        Ok(())
    });
    run.unwrap();
}

#[test]
fn thousands_of_random_snapshots_end_in_the_last_one_right() {
    let (registry, _) = registry(vec![]);
    let small = Options { budget: 4000, workers: 3.try_into().unwrap(), ..Options::default() };
    let evaluators = [evaluator(&registry, 2), Evaluator::new(registry.clone(), small).unwrap()];
    let events = evaluators[0].events();
    let mut runner = TestRunner::new(Config::with_cases(30));
    let run =
        runner.run(&(model(), prop::collection::vec((any::<prop::sample::Index>(), -3..4i8), 40)), |(model, edits)| {
            for evaluator in &evaluators {
                let mut model = model.clone();
                for (index, number) in &edits {
                    let k = index.index(model.nodes.len());
                    model.nodes[k].1 = *number;
                    let output = format!("m{}", model.nodes.len() - 1 - k / 2);
                    evaluator.submit(model.doc().ask(&[&output, "m0"]));
                }
                let outputs = model.outputs();
                let ask: Vec<&str> = outputs.iter().map(String::as_str).collect();
                check(evaluator, &model, &ask);
            }
            events.try_iter().for_each(drop);
            Ok(())
        });
    run.unwrap();
}

#[test]
fn cold_and_warm_are_equal() {
    let (registry, counts) = registry(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let mut disk = sinew_graph::evaluate::DiskOptions::new(folder.path());
        disk.least = std::time::Duration::ZERO;
        Evaluator::new(registry.clone(), Options { disk: Some(disk), ..Options::default() }).unwrap()
    };
    let mut runner = TestRunner::new(Config::with_cases(8));
    let run = runner.run(&model(), |model| {
        let outputs = model.outputs();
        let ask: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let cold = check(&open(), &model, &ask);
        let failing = model.values().iter().filter(|value| value.is_none()).count();
        let before = runs(&counts);
        let warm = check(&open(), &model, &ask);
        assert!(runs(&counts) - before <= failing, "only failures run again");
        for (output, value) in cold {
            assert_eq!(value.map(|v| v.digest()), warm[&output].as_ref().map(Value::digest));
        }
        Ok(())
    });
    run.unwrap();
}
