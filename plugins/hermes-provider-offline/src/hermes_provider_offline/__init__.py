"""Answers without a model: a small set of rules that drives real tools."""
