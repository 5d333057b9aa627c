"""A stand-in for Snowflake that speaks its HTTP protocol: fakesnow's server (DuckDB below), with what the Node driver needs
and fakesnow leaves out.

1. Results as JSON rowsets: fakesnow answers in Arrow, which Snowflake sends to other drivers only.
2. ALTER SESSION SET, USE SECONDARY ROLES and the statement parameters ROWS_PER_RESULTSET are kept and echoed as the server does.
3. SHOW GRANTS answers with the grants of a reader; SHOW ... KEYS IN DATABASE from DuckDB's own constraints.
4. One statement at a time per session, since DuckDB connections are not concurrent.

Not simulated: authentication, roles, warehouses, cancellation, time limits, zones other than UTC.
Prints the port on a line of its own once it listens.
"""

import asyncio
import base64
import datetime
import decimal
import gzip
import importlib
import json
import re
import socket
import sys

import pyarrow as pa
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

# The package exports a function of the same name.
server = importlib.import_module("fakesnow.server")

EPOCH = datetime.date(1970, 1, 1)
parameters: dict[str, dict[str, object]] = {}
locks: dict[str, asyncio.Lock] = {}

GRANT_COLUMNS = ["created_on", "privilege", "granted_on", "name", "granted_to", "grantee_name", "grant_option"]
READER = [["USAGE", "DATABASE", "CLUB"], ["USAGE", "SCHEMA", "CLUB.PUBLIC"], ["SELECT", "TABLE", "CLUB.PUBLIC.TEAM"]]


def text_column(name: str) -> dict[str, object]:
    return {"name": name, "type": "text", "nullable": True, "length": 16777216, "scale": None, "precision": None}


def answer(names: list[str], rows: list[list[str | None]]) -> dict[str, object]:
    return {"rowtype": [text_column(name) for name in names], "rowset": rows, "total": len(rows), "returned": len(rows)}


def plain_session_statement(sql: str, session: dict[str, object]) -> dict[str, object] | None:
    if re.match(r"\s*alter\s+session\s+set\b", sql, re.I):
        for name, text, word in re.findall(r"(\w+)\s*=\s*(?:'((?:[^']|'')*)'|(\w+))", sql):
            session[name.upper()] = text.replace("''", "'") if text or not word else word
        return answer(["status"], [["Statement executed successfully."]])
    if re.match(r"\s*use\s+secondary\s+roles\b", sql, re.I):
        return answer(["status"], [["Statement executed successfully."]])
    if grants := re.match(r'\s*show\s+grants\s+to\s+role\s+"?(\w+)"?', sql, re.I):
        role = grants[1].upper()
        rows = [] if role == "PUBLIC" else [["2020-01-01", *grant, "ROLE", role, "false"] for grant in READER]
        return answer(GRANT_COLUMNS, rows)
    return None


def keys(connection: object, sql: str) -> dict[str, object] | None:
    found = re.match(r'\s*show\s+(primary|unique|imported)\s+keys\s+in\s+database\s+"?(\w+)"?', sql, re.I)
    if found is None:
        return None
    kind = {"primary": "PRIMARY KEY", "unique": "UNIQUE", "imported": "FOREIGN KEY"}[found[1].lower()]
    cursor = connection._duck_conn.cursor()
    constraints = cursor.execute(
        "select database_name, schema_name, table_name, constraint_name, constraint_column_names, referenced_table,"
        " referenced_column_names from duckdb_constraints() where constraint_type = ? and upper(database_name) = upper(?)",
        [kind, found[2]],
    ).fetchall()
    rows = []
    for database, schema, table, name, columns, target, target_columns in constraints:
        if table.startswith("_fs_"):
            continue
        for index, column in enumerate(columns):
            position = str(index + 1)
            if kind == "FOREIGN KEY":
                rows.append([database, schema, target, target_columns[index], database, schema, table, column, position, name])
            else:
                rows.append([database, schema, table, column, position, name])
    if kind == "FOREIGN KEY":
        names = ["database_name", "schema_name", "table_name", "column_name"]
        return answer([f"pk_{n}" for n in names] + [f"fk_{n}" for n in names] + ["key_sequence", "fk_name"], rows)
    return answer(["database_name", "schema_name", "table_name", "column_name", "key_sequence", "constraint_name"], rows)


def encode(value: object, kind: str, scale: int) -> str | None:
    """A value as Snowflake writes it into a JSON rowset."""
    if value is None:
        return None
    if kind == "boolean":
        return "1" if value else "0"
    if kind == "fixed":
        if isinstance(value, decimal.Decimal):
            return f"{value:f}"
        return str(value)
    if kind == "real":
        return repr(value)
    if kind == "date":
        return str((value - EPOCH).days)
    if kind == "time":
        return f"{value.hour * 3600 + value.minute * 60 + value.second}.{value.microsecond * 1000:09d}"
    if kind.startswith("timestamp"):
        if value.tzinfo is None:
            value = value.replace(tzinfo=datetime.timezone.utc)
        micros = (value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
        seconds = f"{micros // 1_000_000}.{micros % 1_000_000 * 1000:09d}"
        return f"{seconds} 1440" if kind == "timestamp_tz" else seconds
    if kind == "binary":
        return value.hex().upper()
    return str(value)


def rowset(cursor: object, rowtype: list[dict[str, object]], cap: int | None) -> list[list[str | None]]:
    table = cursor._arrow_table
    if table is None:
        return []
    if cap is not None:
        table = table.slice(0, cap)
    kinds = [(column["type"], column["scale"] or 0) for column in rowtype]
    columns = [column.cast(pa.string()) if pa.types.is_null(column.type) else column for column in table.columns]
    values = [column.to_pylist() for column in columns]
    return [[encode(value, *kind) for value, kind in zip(row, kinds, strict=True)] for row in zip(*values, strict=True)]


executed: dict[str, object] = {}
plain_to_sf = server.to_sf


def keep_table(table: pa.Table, rowtype: list[dict[str, object]]) -> pa.Table:
    """fakesnow converts the result for Arrow clients here; the table itself is what the JSON is made of."""
    executed["table"] = table
    return plain_to_sf(table, rowtype)


server.to_sf = keep_table


class Cursor:
    def __init__(self, table: pa.Table | None):
        self._arrow_table = table


async def login(request: Request) -> JSONResponse:
    response = await server.login_request(request)
    token = json.loads(response.body)["data"]["token"]
    body = json.loads(response.body)
    body["data"] |= {"masterToken": token, "validityInSeconds": 3600, "masterValidityInSeconds": 14400}
    parameters[token] = {}
    locks[token] = asyncio.Lock()
    for macro in ["m_d5_number_lower64(x) as md5_number_lower(x)", "m_d5_number_upper64(x) as md5_number_upper(x)"]:
        server.sessions[token]._duck_conn.execute(f"create or replace temp macro {macro}")
    return JSONResponse(body)


def success(data: dict[str, object], connection: object, session: dict[str, object]) -> JSONResponse:
    shown = [{"name": name, "value": value} for name, value in session.items()]
    common = {
        "parameters": shown,
        "queryId": "01b2c3d4-0000-0000-0000-000000000000",
        "version": 1,
        "finalDatabaseName": connection.database,
        "finalSchemaName": connection.schema,
        "chunks": [],
        "queryResultFormat": "json",
    }
    return JSONResponse({"data": {**common, **data}, "success": True, "code": None, "message": None})


async def query(request: Request) -> JSONResponse:
    token = server.to_token(request)
    try:
        connection = server.to_conn(token)
    except server.ServerError as error:
        return JSONResponse({"data": None, "code": error.code, "message": error.message, "success": False})
    raw = await request.body()
    body = json.loads(gzip.decompress(raw) if request.headers.get("Content-Encoding") == "gzip" else raw)
    sql, session = body["sqlText"], parameters[token]
    async with locks[token]:
        simple = plain_session_statement(sql, session) or keys(connection, sql)
        if simple is not None:
            return success(simple, connection, session)
        executed.pop("table", None)
        response = await server.query_request(request)
        table = executed.pop("table", None)
    content = json.loads(response.body)
    if not content["success"]:
        if content.get("code") == "261000":  # a feature that fakesnow lacks: an error of the statement, not of the server
            content |= {"code": "002043", "data": {"errorCode": "002043", "sqlState": "02000"}}
        return JSONResponse(content)
    data = content["data"]
    cap = (body.get("parameters") or {}).get("ROWS_PER_RESULTSET")
    rows = data["rowset"] if "rowset" in data else rowset(Cursor(table), data["rowtype"], cap)
    return success({"rowtype": data["rowtype"], "rowset": rows, "total": len(rows), "returned": len(rows)}, connection, session)


async def end_of_session(request: Request) -> JSONResponse:
    token = server.to_token(request)
    if request.query_params.get("delete"):
        server.sessions.pop(token, None)
    return JSONResponse({"data": None, "code": None, "message": None, "success": True})


async def nothing(_: Request) -> JSONResponse:
    return JSONResponse({"data": None, "code": None, "message": None, "success": True})


app = Starlette(
    routes=[
        Route("/session/v1/login-request", login, methods=["POST"]),
        Route("/queries/v1/query-request", query, methods=["POST"]),
        Route("/session", end_of_session, methods=["POST"]),
        Route("/session/heartbeat", nothing, methods=["POST"]),
        Route("/queries/v1/abort-request", nothing, methods=["POST"]),
        Route("/queries/{query}/abort-request", nothing, methods=["POST"]),
        Route("/telemetry/send", nothing, methods=["POST"]),
    ]
)

if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
    sys.exit(0)
