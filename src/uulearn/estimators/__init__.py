"""Classifiers trained from unlabeled sets; import them from `uulearn`."""
