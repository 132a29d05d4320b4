//! Distances of messages, and contention on shared links.
//!
//! A rank is one endpoint of the network. Ranks are numbered as in a [`Decomposition`](crate::grid::Decomposition), x fastest,
//! and all of them do the same at once: send to a rank some blocks away along an axis, on both sides, or to all ranks on the
//! line. The time of a pattern on the busiest link is given as a multiple of the time that the messages need to leave their rank.

/// Seconds per switch and cable, of commercial cut-through switches (about 100 ns).
const HOP: f64 = 1e-7;
/// Endpoints per edge switch of a fat tree, equal to its upward ports: half of a switch of 64 ports.
const EDGE: f64 = 32.0;
/// Endpoints per group of a dragonfly.
const GROUP: f64 = 512.0;

/// Topology of the network between ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Network {
    /// All ranks are adjacent: one host, or one switch.
    Flat,
    /// A 3-D torus of the shape of the decomposition, so that neighbours are adjacent; each link is as fast as a rank's own link.
    Torus,
    /// Switches of 64 ports (Leiserson 1985); above the lowest level the total bandwidth is smaller by this factor.
    FatTree(f64),
    /// Groups of 512 ranks, all connected to each other; the total bandwidth between groups is smaller than that into a group by
    /// this factor (Kim, Dally, Scott and Abts 2008).
    Dragonfly(f64),
}

/// The messages of all ranks along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths {
    network: Network,
    /// Ranks along the axis.
    along: usize,
    /// Difference in rank number between neighbours along the axis.
    stride: usize,
    /// Total number of ranks.
    ranks: usize,
}

impl Network {
    /// The networks that are predicted by default, without taper.
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
    /// Distance in blocks between two positions: the shorter way around, since lines and tori are periodic.
    fn distance(&self, from: usize, to: usize) -> usize {
        let straight = from.abs_diff(to);
        straight.min(self.along - straight)
    }

    /// Seconds from one position to another in excess of those to an adjacent rank.
    pub(super) fn delay(&self, from: usize, to: usize) -> f64 {
        let blocks = self.distance(from, to) as f64;
        let ranks = from.abs_diff(to) as f64 * self.stride as f64;
        let hops = match self.network {
            Network::Flat => 0.0,
            Network::Torus => blocks - 1.0,
            // Up to the lowest level at which both are below one switch, and down: 2 levels − 1 switches, one of which is already
            // counted.
            Network::FatTree(_) => 2.0 * ((ranks + 1.0).ln() / EDGE.ln()).ceil() - 2.0,
            // Local, global, local, and twice that with the detour that balances the load (Kim et al., §4).
            Network::Dragonfly(_) if ranks >= GROUP => 5.0,
            Network::Dragonfly(_) => 1.0,
        };
        HOP * hops.max(0.0)
    }

    /// Time on the busiest link relative to the time of a rank for its messages, if every rank sends to the ranks the given
    /// number of blocks away on either side.
    pub(super) fn shifted(&self, from: usize, to: usize) -> f64 {
        let blocks = self.distance(from, to) as f64;
        let ranks = blocks * self.stride as f64;
        let busiest = match self.network {
            Network::Flat => 1.0,
            // Every link carries the messages of that many ranks in each direction, but only of one of the two sides.
            Network::Torus => 0.5 * blocks,
            // That many ranks of an edge switch send out of it; all ranks if the distance is larger.
            Network::FatTree(taper) => taper * (ranks / EDGE).min(1.0),
            // All traffic that leaves a group is for one or two others. The detour through a third group makes it as balanced as
            // random traffic, and doubles it (Kim et al., §4: Valiant's routing).
            Network::Dragonfly(taper) => 2.0 * taper * (ranks / GROUP).min(1.0),
        };
        busiest.max(1.0)
    }

    /// The same if every rank sends the same amount to each rank on its line.
    pub(super) fn all_to_all(&self) -> f64 {
        let along = self.along as f64;
        let ranks = (along * self.stride as f64).min(self.ranks as f64);
        let inside = |unit: f64| (unit / self.stride as f64).max(1.0).min(along) / along;
        let busiest = match self.network {
            Network::Flat => 1.0,
            // P²/4 messages cross the middle of a ring of P in each direction, over two links: P/8 times the P messages of a
            // rank.
            Network::Torus => along / 8.0,
            Network::FatTree(taper) if ranks > EDGE => taper * (1.0 - inside(EDGE)),
            Network::Dragonfly(taper) if ranks > GROUP => taper * (1.0 - inside(GROUP)),
            _ => 1.0,
        };
        busiest.max(1.0)
    }

    /// Seconds from a position to the farthest one on its line in excess of those to an adjacent rank.
    pub(super) fn farthest(&self) -> f64 {
        self.delay(0, self.along - 1).max(self.delay(0, self.along / 2))
    }
}
