"""Load for benchmarks of the edge: programs to compare with, and a client on a core of its own."""
