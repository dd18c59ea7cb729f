//! The elements around blocks, with sums over the blocks in them.

use super::evidence::{self, AncestorDistances, ElementEvidence};
use super::features::{FeatureMatrix, WordLifts};
use crate::tree::{NodeId, Tree};

/// An element around blocks, with sums over the blocks in it.
#[derive(Debug, Clone)]
pub struct Container {
    /// The element.
    pub node: NodeId,
    /// Index of the enclosing container; the root is its own parent.
    pub parent: u32,
    /// Evidence of the element itself.
    pub own: ElementEvidence,
    /// Evidence of the element and its ancestors.
    pub near: AncestorDistances,
    pub(super) depth: u32,
    pub(super) lift_low: f32,
    pub(super) lift_high: f32,
    pub(super) lift_sum: f32,
    pub(super) path: u32,
    pub(super) bytes: f32,
    pub(super) links: f32,
    pub(super) blocks: f32,
    pub(super) lift: f32,
    pub(super) score: f32,
}

const NO_CONTAINER: u32 = u32::MAX;

impl FeatureMatrix {
    /// The containers around a block, from the innermost to the root.
    pub(super) fn around(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(self.innermost[row]);
        std::iter::from_fn(move || {
            let at = next?;
            let parent = self.containers[at as usize].parent;
            next = (parent != at).then_some(parent);
            Some(at)
        })
    }

    /// Finds the elements around all blocks.
    pub(super) fn find_containers(&mut self, tree: &Tree, lift: &impl WordLifts) {
        let mut known = vec![NO_CONTAINER; tree.len()];
        let mut chain = Vec::new();
        for block in &self.blocks.list {
            let element = block.element.unwrap_or(tree.root());
            chain.clear();
            let mut at = Some(element);
            while let Some(id) = at {
                if known[id.index()] != NO_CONTAINER {
                    break;
                }
                chain.push(id);
                at = tree.parent(id);
            }
            for id in chain.drain(..).rev() {
                let parent = tree.parent(id).map_or(NO_CONTAINER, |parent| known[parent.index()]);
                known[id.index()] = self.containers.len() as u32;
                let own = evidence::read(tree, id, &|hash| lift.name(hash));
                self.containers.push(Container::below(id, parent, self.containers.get(parent as usize), own));
            }
            let innermost = known[element.index()];
            self.innermost.push(innermost);
            self.path.push(self.containers[innermost as usize].path);
        }
    }

    /// Sums the blocks of each container, and finds the container that each block shares with others.
    pub(super) fn sum_containers(&mut self) {
        for (row, block) in self.blocks.list.iter().enumerate() {
            let words = &self.words[row];
            let bytes = block.len() as f32;
            let links = block.link_bytes as f32;
            // As in readability: long unlinked text scores for its ancestors, halved per level.
            let prose = if words.count >= 8.0 { (bytes - 2.0 * links).max(0.0) } else { 0.0 };
            let mut at = self.innermost[row];
            let mut level = 0;
            loop {
                let parent = {
                    let around = &mut self.containers[at as usize];
                    around.bytes += bytes;
                    around.links += links;
                    around.blocks += 1.0;
                    around.lift += words.lift;
                    around.score += match level {
                        0 => 0.0,
                        1 => prose,
                        2 => prose / 2.0,
                        3 => prose / 4.0,
                        _ => 0.0,
                    };
                    around.parent
                };
                if parent == at {
                    break;
                }
                at = parent;
                level += 1;
            }
        }
        for row in 0..self.blocks.list.len() {
            let mut at = self.innermost[row];
            while self.containers[at as usize].blocks < 3.0 && self.containers[at as usize].parent != at {
                at = self.containers[at as usize].parent;
            }
            self.shared.push(at);
        }
    }
}

impl Container {
    fn below(node: NodeId, parent: u32, above: Option<&Container>, own: ElementEvidence) -> Container {
        let near = above.map_or(AncestorDistances::NOTHING, |above| above.near).below(&own);
        let inherited =
            above.map_or((0.0, 0.0, 0.0, 0), |above| (above.lift_low, above.lift_high, above.lift_sum, above.path));
        Container {
            node,
            parent: if above.is_some() { parent } else { 0 },
            near,
            depth: above.map_or(0, |above| above.depth + 1),
            lift_low: inherited.0.min(own.lift.0),
            lift_high: inherited.1.max(own.lift.1),
            lift_sum: inherited.2 + own.lift.0 + own.lift.1,
            path: inherited.3.rotate_left(7).wrapping_mul(31) ^ own.signature,
            own,
            bytes: 0.0,
            links: 0.0,
            blocks: 0.0,
            lift: 0.0,
            score: 0.0,
        }
    }
}
