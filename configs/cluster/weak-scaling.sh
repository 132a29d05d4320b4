#!/usr/bin/env bash
# Weak scaling with one job per size, so that no nodes idle and small jobs start early, then a job that plots the results.
# (All tasks of a Slurm array have the same number of nodes, so each size is a separate array.)
# Start on a login node, in an empty folder, with numbers of nodes: bash weak-scaling.sh 1 2 4 8 16 32
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -gt 0 ] || { echo "error: give numbers of nodes, as in: bash weak-scaling.sh 1 2 4 8" >&2; exit 2; }
repeats=3                        # change: how often each size is measured

jobs=()
for nodes in "$@"; do
    jobs+=("$(sbatch --parsable --nodes="$nodes" --array="1-$repeats" "$folder/weak-scaling.slurm")")
done

# For a size measured several times the shortest time is plotted; the table lists the others. The model uses the rates
# that the jobs measured; for other networks and more ranks add a file written by `kolmo model --json` below.
dependency=$(IFS=:; echo "${jobs[*]%%;*}")
sbatch --job-name=kolmo-plot --dependency="afterany:$dependency" --ntasks=1 --time=00:05:00 --output=scaling.txt \
    --partition=gpu --wrap='kolmo plot-scaling weak-*-*.json'   # change: the partition
echo "scaling.txt will have the table, scaling-weak.svg the efficiency, scaling-weak-phases.svg the time per phase"
