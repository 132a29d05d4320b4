#!/usr/bin/env bash
# Weak scaling with a job for every size, so that none holds nodes that wait, and small ones start soon: then a job that draws
# what they measured. (All tasks of one Slurm array have the same nodes, so a size is an array of its own.)
# Start on a login node, in an empty folder, with numbers of nodes: bash weak-scaling.sh 1 2 4 8 16 32
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -gt 0 ] || { echo "error: give numbers of nodes, as in: bash weak-scaling.sh 1 2 4 8" >&2; exit 2; }
repeats=3                        # change: how often each size is measured

jobs=()
for nodes in "$@"; do
    jobs+=("$(sbatch --parsable --nodes="$nodes" --array="1-$repeats" "$folder/weak-scaling.slurm")")
done

# What is drawn of a size that was measured several times is the shortest; the table names the others. The model has the rates
# that the jobs measured; `kolmo model --json` has other networks and more ranks: add its file below.
dependency=$(IFS=:; echo "${jobs[*]%%;*}")
sbatch --job-name=kolmo-plot --dependency="afterany:$dependency" --ntasks=1 --time=00:05:00 --output=scaling.txt \
    --partition=gpu --wrap='kolmo plot-scaling weak-*-*.json'   # change: the partition
echo "scaling.txt will have the table, scaling-weak.svg the efficiency, scaling-weak-phases.svg where the time goes"
