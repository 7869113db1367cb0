"""Penstock: a streaming lakehouse that can be rewound."""

__version__ = "0.1.0"
