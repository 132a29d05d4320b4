//! How far messages go, and what else uses the same links.
//!
//! A rank is one endpoint of the network; ranks are numbered as in a [`Decomposition`](crate::grid::Decomposition), x fastest,
//! and all of them do the same at once: send to a rank some blocks away along an axis, on both sides, or to all ranks on the
//! line. What a pattern takes on the busiest link is given as a multiple of what the messages take to leave their rank.

/// Seconds through one switch and the cable behind it, of cut-through switches as they are sold (about 100 ns).
const HOP: f64 = 1e-7;
/// Endpoints of a switch at the edge of a fat tree, and ports upwards as many: half of a switch of 64 ports.
const EDGE: f64 = 32.0;
/// Endpoints of a group of a dragonfly.
const GROUP: f64 = 512.0;

/// How ranks are connected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Network {
    /// Every rank beside every other: one host, or one switch.
    Flat,
    /// A 3-D torus of the shape of the decomposition, so that neighbours are adjacent; each link as fast as a rank's own.
    Torus,
    /// Switches of 64 ports (Leiserson 1985); above the lowest the links together are slower by this factor.
    FatTree(f64),
    /// Groups of 512 ranks, each connected to each other; the links between groups, all together, are slower than those into
    /// a group by this factor (Kim, Dally, Scott and Abts 2008).
    Dragonfly(f64),
}

/// The messages of all ranks along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths {
    network: Network,
    /// Ranks along the axis.
    along: usize,
    /// Distance in rank numbers of neighbours along it.
    stride: usize,
    /// All ranks.
    ranks: usize,
}

impl Network {
    /// Those that are predicted, without taper.
    pub const ALL: [Network; 3] = [Network::Torus, Network::FatTree(1.0), Network::Dragonfly(1.0)];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Network::Flat => "flat",
            Network::Torus => "torus",
            Network::FatTree(_) => "fat-tree",
            Network::Dragonfly(_) => "dragonfly",
        }
    }

    /// The messages along axis `a`.
    pub(super) fn paths(self, a: usize, ranks: [usize; 3]) -> Paths {
        Paths {
            network: self,
            along: ranks[a],
            stride: ranks[..a].iter().product(),
            ranks: ranks.iter().product(),
        }
    }
}

impl Paths {
    /// Blocks between two positions: the shorter way round, as lines are periodic and tori are too.
    fn distance(&self, from: usize, to: usize) -> usize {
        let straight = from.abs_diff(to);
        straight.min(self.along - straight)
    }

    /// Seconds from one position to another beyond those to an adjacent rank.
    pub(super) fn delay(&self, from: usize, to: usize) -> f64 {
        let blocks = self.distance(from, to) as f64;
        let ranks = from.abs_diff(to) as f64 * self.stride as f64;
        let hops = match self.network {
            Network::Flat => 0.0,
            Network::Torus => blocks - 1.0,
            // Up to the level at which both are below one switch, and down: 2 levels − 1 switches, of which one is counted
            // already.
            Network::FatTree(_) => 2.0 * ((ranks + 1.0).ln() / EDGE.ln()).ceil() - 2.0,
            // Local, global, local, and twice that on the detour that spreads the load (Kim et al., §4).
            Network::Dragonfly(_) if ranks >= GROUP => 5.0,
            Network::Dragonfly(_) => 1.0,
        };
        HOP * hops.max(0.0)
    }

    /// How much longer the busiest link needs than a rank for its messages, where every rank sends to the one so many blocks
    /// away on either side.
    pub(super) fn shifted(&self, from: usize, to: usize) -> f64 {
        let blocks = self.distance(from, to) as f64;
        let ranks = blocks * self.stride as f64;
        let busiest = match self.network {
            Network::Flat => 1.0,
            // Every link carries the messages of that many ranks each way, but of one of the two sides only.
            Network::Torus => 0.5 * blocks,
            // Of an edge switch's ranks that many send out of it; all do where the distance is larger.
            Network::FatTree(taper) => taper * (ranks / EDGE).min(1.0),
            // All that leaves a group is for one or two others: as good as random after a detour through a third group, which
            // doubles it (Kim et al., §4: Valiant's routing).
            Network::Dragonfly(taper) => 2.0 * taper * (ranks / GROUP).min(1.0),
        };
        busiest.max(1.0)
    }

    /// The same where every rank sends as much to each rank on its line.
    pub(super) fn all_to_all(&self) -> f64 {
        let along = self.along as f64;
        let ranks = (along * self.stride as f64).min(self.ranks as f64);
        let inside = |unit: f64| (unit / self.stride as f64).max(1.0).min(along) / along;
        let busiest = match self.network {
            Network::Flat => 1.0,
            // P²/4 messages cross the middle of a ring of P each way, over two links: P/8 times the P a rank sends.
            Network::Torus => along / 8.0,
            Network::FatTree(taper) if ranks > EDGE => taper * (1.0 - inside(EDGE)),
            Network::Dragonfly(taper) if ranks > GROUP => taper * (1.0 - inside(GROUP)),
            _ => 1.0,
        };
        busiest.max(1.0)
    }

    /// Seconds from a position to the farthest on its line beyond those to an adjacent rank.
    pub(super) fn farthest(&self) -> f64 {
        self.delay(0, self.along - 1).max(self.delay(0, self.along / 2))
    }
}
