//! Strongly connected components, by Tarjan's algorithm.

use super::graph::Graph;

/// Sets of at least two modules that all depend on each other, in the modules' order.
pub(super) fn all(graph: &Graph) -> Vec<Vec<usize>> {
    let modules = graph.names().len();
    let mut targets = vec![Vec::new(); modules];
    for (from, to) in graph.edges() {
        targets[from].push(to);
    }
    let mut search = Search {
        targets,
        entered: vec![None; modules],
        low: vec![0; modules],
        stack: Vec::new(),
        found: Vec::new(),
    };
    for module in 0..modules {
        if search.entered[module].is_none() {
            search.visit(module);
        }
    }
    let sets = search.found.into_iter().filter(|set| set.len() > 1);
    let mut found: Vec<Vec<usize>> = sets
        .map(|mut set| {
            set.sort_unstable();
            set
        })
        .collect();
    found.sort_unstable();
    found
}

struct Search {
    targets: Vec<Vec<usize>>,
    /// In which order modules were reached.
    entered: Vec<Option<usize>>,
    /// The earliest module on the stack that each one reaches.
    low: Vec<usize>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search {
    fn visit(&mut self, module: usize) {
        let order = self.entered.iter().flatten().count();
        self.entered[module] = Some(order);
        self.low[module] = order;
        self.stack.push(module);
        for target in self.targets[module].clone() {
            if self.entered[target].is_none() {
                self.visit(target);
                self.low[module] = self.low[module].min(self.low[target]);
            } else if self.stack.contains(&target) {
                self.low[module] = self.low[module].min(self.entered[target].unwrap_or(order));
            }
        }
        if self.low[module] == order
            && let Some(start) = self.stack.iter().position(|&other| other == module)
        {
            self.found.push(self.stack.split_off(start));
        }
    }
}
