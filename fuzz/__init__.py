"""Damaged files, kills at random moments and many writers: what unmix promises about files, tried.

`make fuzz` runs it all, bounded in time and count, and writes docs/files.md; a small seeded part is in the tests.
"""
