"""A store for every test of the gateway's rows."""

from store_fixtures import pytest_generate_tests, reopen, sql, store, url

__all__ = ["pytest_generate_tests", "reopen", "sql", "store", "url"]
