"""Operators: each module defines the records of some, and is imported when one is looked up."""
