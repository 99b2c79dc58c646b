"""The same from Python, with psycopg, after enqueue.sql has made the shop: python examples/other-languages/enqueue.py"""

import json
import os

import psycopg

with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    # One transaction: the order and the run that it asks for, or neither.
    connection.execute(
        "insert into shop.orders values (%(order)s, %(customer)s)",
        {"order": 4713, "customer": "chai"},
    )
    run = connection.execute(
        "select escapement.enqueue('send-welcome', %(input)s, key => %(key)s)",
        {"input": json.dumps({"customer": "chai"}), "key": "welcome:chai"},
    ).fetchone()
    print(f"run {run[0]}")
