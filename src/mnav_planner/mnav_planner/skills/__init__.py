"""Markdown guidance that a model reads on demand."""
