"""Every statement of the store in SQLAlchemy Core: what `frozen_sql.py` writes `versions/head` from."""
