"""Load for benchmarks: programs to compare with, a client on a core of its own, and a browser."""
